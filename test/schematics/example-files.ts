/** An example file with all that can be awkward in one. */
export const PLANTS = [
  {
    'plant id': 'p1',
    type: 'TREE',
    name: 'Weißdorn',
    height: { from: 2, to: { metres: 8.5 } },
    colours: ['weiß', 'rosé', null],
    bloom: {
      may: { from: 1, 'to (day)': 31.5 },
      june: { from: null, 'to (day)': 2 },
      july: { from: 2, 'to (day)': 2.5 },
      static: true,
      "it's": { "'": [{ a: { b: 'x' } }] },
      odd: 'a',
    },
    finds: [
      { place: 'Öland "3"', years: [1999], seen: null },
      { place: 'Rügen', years: [] },
    ],
    leaves: 1200,
    price: 19.5,
    evergreen: false,
    plantedAt: '2026-03-01T10:00:00.000Z',
    'Größe (cm)': null,
    offset: 'a "quoted", text\nof two lines',
  },
  {
    'plant id': 'p2',
    type: 'SHRUB',
    name: 'Ölbaum 🌳',
    height: {},
    colours: [],
    bloom: null,
    finds: [],
    leaves: null,
    price: null,
    evergreen: true,
    plantedAt: null,
    'Größe (cm)': 'klein',
    offset: null,
  },
  ...Array.from({ length: 8 }, (_, at) => ({
    'plant id': `q${at}`,
    type: at % 2 === 0 ? 'TREE' : 'SHRUB',
    name: 'Weißdorn',
    height: { from: at },
    colours: [[at]],
    bloom: { may: { from: at, 'to (day)': 3 }, static: false, odd: [1] },
    finds: [{ place: `p${at}`, years: [at] }],
    leaves: -1 - at,
    price: null,
    evergreen: true,
    plantedAt: null,
    'Größe (cm)': null,
    offset: null,
  })),
];

/** 1,000 shops as a list of stores has them: 52 states, 900 streets, opening hours of all lengths. */
const STORES = Array.from({ length: 1000 }, (_, at) => ({
  store_id: `S${at}`,
  store_name: `${at % 2 ? 'Corner' : 'Harvest'} Market ${letters(at)}`,
  street: `${at % 900} ${letters(at)}ham Road`,
  owner: `Mr ${letters(at % 200)}`,
  manager: `Ms ${letters(at % 400)}`,
  region_id: 100 + (at % 7),
  postcode: `${letters(at)}-${at % 990}`,
  state: letters(at % 52),
  opening_hours: `Mo-Fr 0${at % 10}:30-${10 + (at % 12)}:00${at % 3 ? '; Sa 09:00-14:00' : ''}`,
  hours_note: `open daily ${1 + (at % 9)}am - ${1 + (at % 8)}pm, ${'closed on holidays '.repeat(at % 9)}`,
  phone: `(${200 + (at % 700)}) 555-${1000 + at}`,
  page: `https://example.com/${at}`,
  picture: 'x'.repeat(101 + (at % 300)),
  about: `A shop with ${at} shelves. ${'Bread, cheese and seasonal fruit. '.repeat(at % 20)}`,
}));

/** A number as letters: no two below 676 have the same. */
function letters(at: number): string {
  return String.fromCharCode(97 + (Math.floor(at / 26) % 26), 97 + (at % 26));
}

/** A row of a list in JSON with values of each type. */
const ROWS = Array.from({ length: 20 }, (_, at) => ({
  number: at + 1,
  kind: at % 2 ? 'tall tree' : 'shrub',
  open: at % 2 === 0,
  born: `2026-01-${10 + at}`,
  tags: at % 2 ? ['a', 'b'] : [],
  sizes: [at],
  mixed: [at, 'a'],
  code: `123456789012345678${at}`,
  uuid: `00000000-0000-4000-8000-0000000000${10 + at}`,
  long: 'x'.repeat(10_001),
}));

/** Themes, half of them below others, and visits of them: identifiers by name, letters as booleans, no unique column. */
const THEMES = [0, 1, 2, 3].map((at) => [at + 1, `Theme ${at}`, at > 1 ? at - 1 : ''].join());
const VISITS = [
  'Ada Bell,1,t,4.50',
  'Ada Bell,1,t,4.50',
  'Ben Cole,2,f,3',
  'Ben Cole,3,f,',
  'Ben Cole,3,f,0.25',
];

/** Files with examples, of which fields are proposed. */
export const FILES = {
  'plants.ndjson': PLANTS.map((row) => JSON.stringify(row)).join('\n'),
  'stores.csv': [
    Object.keys(STORES[0] ?? {}),
    ...STORES.map((row) => Object.values(row).map((cell) => `"${cell}"`)),
  ]
    .map((line) => line.join(','))
    .join('\n'),
  'semicolons.csv': 'id;name\r\n1;A\r\n',
  'themes.csv': ['id,name,parent_id', ...THEMES].join('\n'),
  'visits.csv': ['visitor,scratch_theme_id,member,mark', ...VISITS].join('\n'),
  'asked.ndjson': ['a', 'b']
    .map((id) => JSON.stringify({ id, name: `the ${id}`, q: id }))
    .join('\n'),
  'sample.json': JSON.stringify(ROWS, undefined, 2),
  ...Object.fromEntries(
    (['uuid', 'code', 'born'] as const).map((name) => [
      `${name}.json`,
      JSON.stringify(ROWS.map((row) => ({ id: name === 'code' ? row.code.slice(2) : row[name] }))),
    ]),
  ),
};
