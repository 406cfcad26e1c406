import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import type { CommandResult } from '../cli/catalogue.js';
import { namesOf } from '../../schematics/resource/names.js';
import { createDatabase, type TestDatabase } from '../database/database.js';
import { added, filesOf, ORDER_ITEMS, SUPPLIERS } from './generated.js';
import { ScratchCopy } from './scratch-copy.js';

/** An example file with all that can be awkward in one. */
const PLANTS = [
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

let copy: ScratchCopy;
let database: TestDatabase;
/** What the generator printed for each of `generated`, and for each file of `FILES`. */
let results: ReadonlyMap<string, CommandResult>;
/** What all of them added. */
let files: readonly string[];

// The copy has the resources that were added to the project: these are names that none of them has.
/** Those whose tests are run: with every type of column, and names that are words of SQL or JavaScript. */
const TESTED = ['order-items', 'parts', 'meters', 'bills', 'gauges'].map(
  (name) => `scratch-${name}`,
);
const OTHERS = ['scratch-suppliers', 'scratch-plants', 'scratch-readings', 'scratch-stores'];
const GENERATED = [...TESTED, ...OTHERS, 'proxies', 'geese'];

const generated: readonly [what: string, folder: string, fields: string, one?: string][] = [
  // Generated at the same time as `geese`.
  ['the name of a class of JavaScript', 'proxies', 'day:text:exact', 'proxy'],
  ['fields of most types', 'scratch-suppliers', SUPPLIERS],
  [
    'a name of several words and fields that are called like words of the language',
    'scratch-order-items',
    ORDER_ITEMS,
  ],
  [
    'fields that are called like what the service itself says in SQL',
    'scratch-parts',
    'page:integer, found:text, row:text:exact:counted, facet:text:several:counted, lowest:text:exact, ' +
      'count:integer:interval, object:text:sort, key:text, position:integer, line:text, value:text, version:text, ' +
      'objects:text, total:text, staged:text, present:text, excluded:text, tally:text, first:identifier',
  ],
  [
    'an integer that identifies it, and columns of such types',
    'scratch-meters',
    'meterID:integer:identifier,name:text:exact:sort:words,level:integer:several:not:counted,' +
      'parentID:reference=scratch_meters:null:several:tree:counted,' +
      'serial:bigint:null:several:interval:sort,batch:uuid:several:not:counted',
  ],
  [
    'a UUID that identifies it, and a reference to such a resource',
    'scratch-readings',
    'readingID:uuid:identifier,meterID:reference=scratch_meters:several:not:counted:tree,note:text:null:words',
  ],
  [
    'references by an integer and by a UUID',
    'scratch-bills',
    'billID:bigint:identifier,meterID:reference=scratch_meters:null:exact:sort,' +
      'readingID:reference=scratch_readings:several:counted',
  ],
  [
    'columns of any type',
    'scratch-gauges',
    'day:date:null:exact:exists:interval:sort,weight:double:null:interval:exists:sort,level:double:interval,' +
      'note:text=unlimited:words,tags:texts:several,codes:integers:null:several,more:texts:null',
  ],
];

/** Files with examples, of which fields are proposed. */
const FILES = {
  'plants.ndjson': PLANTS.map((row) => JSON.stringify(row)).join('\n'),
  'stores.csv': [
    Object.keys(STORES[0] ?? {}),
    ...STORES.map((row) => Object.values(row).map((cell) => `"${cell}"`)),
  ]
    .map((line) => line.join(','))
    .join('\n'),
  'asked.ndjson': ['a', 'b']
    .map((id) => JSON.stringify({ id, name: `the ${id}`, q: id }))
    .join('\n'),
  'limits.ndjson': ['a', 'b']
    .map((id) => JSON.stringify({ id, limit: id, updatedSince: id }))
    .join('\n'),
  'sample.json': JSON.stringify(ROWS, undefined, 2),
  ...Object.fromEntries(
    (['uuid', 'code', 'born'] as const).map((name) => [
      `${name}.json`,
      JSON.stringify(ROWS.map((row) => ({ id: name === 'code' ? row.code.slice(2) : row[name] }))),
    ]),
  ),
};

/** The resources of files. The others are only proposed. */
const OF_FILES: Readonly<Record<string, string>> = {
  'plants.ndjson': 'scratch-plants',
  'stores.csv': 'scratch-stores',
};

beforeAll(async () => {
  copy = await ScratchCopy.make();
  await writeFile(join(copy.folder, 'rounded.ndjson'), '{"id":1,"n":100000000000000000000}\n');
  for (const [name, content] of Object.entries(FILES)) {
    await writeFile(join(copy.folder, name), content);
  }
  database = await createDatabase();
  const all = new Map<string, readonly string[]>([
    // As they are typed: in camelCase, with underscores or with hyphens.
    ...generated.map(([, folder, fields]): [string, string[]] => [
      folder,
      [
        folder === 'scratch-order-items' ? 'scratchOrderItems' : folder.replaceAll('-', '_'),
        ...(folder === 'proxies' ? [fields] : ['--fields', fields]),
      ],
    ]),
    ...Object.keys(FILES).map((file): [string, string[]] => [
      file,
      OF_FILES[file] ? [OF_FILES[file], file] : ['scratch_limits', '--from', file, '--dry-run'],
    ]),
  ]);
  files = await added(copy, async () => {
    const [proxies, ...others] = all.values();
    const sameTime = await Promise.all([
      copy.resource(['geese'], 'email:text:exact\nnick:text=20:null\n\n'),
      copy.resource(proxies ?? []),
    ]);
    const printed = [...sameTime, ...(await copy.resources(others))];
    results = new Map(
      ['geese', ...all.keys()].flatMap((name, at) =>
        printed.slice(at, at + 1).map((each) => [name, each]),
      ),
    );
  });
});
afterAll(async () => {
  await copy.remove();
  await database.drop();
});

/** The lines that the generator prints when it proposes a resource from a file. */
function proposed(file: string): string[] {
  const { status, stdout = '' } = results.get(file) ?? {};
  expect(status).toBe(0);
  return stdout.split('\n').map((line) => line.trim());
}

// What each test generates, those after it build on.
describe('A resource', () => {
  it('is imported by the module of the application', async () => {
    const path = files.find((file) => file.endsWith('-create-scratch-suppliers.ts')) ?? '';
    const [migration = ''] = (await copy.files()).filter((file) =>
      file.endsWith(path.slice(path.indexOf('-create'))),
    );
    // By which a database knows the table if the resource is taken back and generated again.
    expect(await readFile(join(copy.folder, migration), 'utf8')).toContain(
      `readonly creates = 'scratch_suppliers';`,
    );
    const module = await readFile(join(copy.folder, 'src/app.module.ts'), 'utf8');
    expect(module).toContain(
      `import { ScratchSuppliersModule } from './scratch-suppliers/scratch-suppliers.module.js';`,
    );
    expect(module).toMatch(/imports: \[[^\]]*\bScratchSuppliersModule\b[^\]]*\]/);
    const dto = 'src/scratch-suppliers/list-scratch-suppliers.dto.ts';
    const query = await readFile(join(copy.folder, dto), 'utf8');
    // A column may be negative, and so may a bound of its values.
    expect(query).toMatch(/@SignedIntegerParam\([^@]*\bstockMin\?/);
    expect(query).toMatch(/@SignedDecimalParam\([^@]*\bratingMin\?/);
  });

  it('has a test of its entity, whatever its fields are', async () => {
    const spec = await readFile(join(copy.folder, 'test/scratch-order-items.spec.ts'), 'utf8');
    expect(spec).toMatch(/^(import .*\n){2}\ndescribeList\(ScratchOrderItem\);\n$/);
  });

  describe('may have', () => {
    it.each(generated.map(([what, folder, , one]) => [what, folder, one] as const))(
      '%s',
      (_, folder, one) => {
        expect(results.get(folder)).toMatchObject({ stderr: '', status: 0 });
        expect(files.filter((file) => file.includes(folder))).toEqual(
          filesOf(folder, one ?? folder.replace(/s$/, '')),
        );
      },
    );

    it('no file of another', () => {
      const others = ['geese', ...Object.values(OF_FILES)];
      expect(files).toHaveLength(7 * (generated.length + others.length));
    });
  });

  it('is asked for field by field, and may have an irregular plural', () => {
    expect(files.filter((file) => file.includes('geese'))).toEqual(filesOf('geese', 'goose'));
  });

  it('is proposed from the rows of a file', () => {
    expect(files.filter((file) => file.includes('scratch-plants'))).toEqual(
      filesOf('scratch-plants', 'scratch-plant'),
    );
    expect(proposed('plants.ndjson')).toEqual(
      expect.arrayContaining([
        'plantId:identifier',
        'type:enum=SHRUB/TREE:several:counted',
        'name:text:exact:sort:words (a name)',
        'height:json',
        'colours:json',
        'bloom:json:null',
        'finds:json',
        'leaves:integer:null:interval',
        'price:decimal:null:interval',
        'evergreen:boolean:exact:counted',
        'plantedAt:date-time:null:interval',
        'grosseCm:text:null:exact (single words or codes)',
        'offset:text:null (every list has such a parameter)',
        `npm run -s catalogue -- import scratch_plants plants.ndjson --map 'plantId=plant id' --map 'grosseCm=Größe (cm)'`,
      ]),
    );
  });

  it('is proposed with the search and the facets of a shop, and says why', () => {
    expect(proposed('stores.csv')).toEqual(
      expect.arrayContaining([
        'store_id:identifier',
        'store_name:text:words (several words)',
        'street:text:words (several words)',
        'owner:text:several:counted:words (200 values in 1000 rows)',
        'manager:text:exact:words (several words, repeated)',
        'region_id:integer:several:counted (identifiers of others)',
        'postcode:text:exact (single words or codes)',
        'state:text:several:counted (52 values in 1000 rows)',
        'opening_hours:text (times of day)',
        'hours_note:text (times of day)',
        'phone:text (more digits than letters)',
        'page:text (links)',
        'picture:text (too long to be typed)',
        'about:text:words (several words)',
      ]),
    );
  });

  it('is proposed without a search beside a column that is called like its parameter', () => {
    expect(proposed('asked.ndjson')).toContain(
      'name:text:exact:sort (a name; another column is called q or words)',
    );
  });

  it('is proposed with the types of the rows of a list in JSON', () => {
    expect(proposed('sample.json')).toEqual(
      expect.arrayContaining([
        'number:integer:identifier',
        'kind:text:several:counted (2 values in 20 rows)',
        'open:boolean:exact:counted',
        'born:date:interval',
        'tags:texts:several',
        'sizes:integers:several',
        'mixed:json',
        'code:decimal:interval',
        'uuid:uuid:exact',
        'long:text=unlimited (too long to be typed)',
        'npm run -s catalogue -- import scratch_limits sample.json',
      ]),
    );
    for (const [file, type] of Object.entries({ uuid: 'uuid:', code: 'bigint:', born: '' })) {
      expect(proposed(`${file}.json`)).toContain(`id:${type}identifier`);
    }
  });

  it('is proposed without a filter that every list has for something else', () => {
    expect(proposed('limits.ndjson')).toEqual(
      expect.arrayContaining([
        'id:identifier',
        'limit:text (every list has such a parameter)',
        'updatedSince:text (every list has such a parameter)',
      ]),
    );
  });

  describe('is refused', () => {
    const refused: readonly [string, readonly string[], string | RegExp][] = [
      [
        'there already',
        ['scratch_suppliers', '--fields', 'a:text'],
        /^Error: The resource scratch_suppliers is there already$/m,
      ],
      [
        'in the singular',
        ['scratch_supplier', '--fields', 'a:text'],
        /named in the plural: scratch_suppliers, not scratch_supplier/,
      ],
      [
        'called like a part of the service',
        ['clients', '--fields', 'a:text'],
        /clients is taken by the service/,
      ],
      [
        'called like the path of deletions',
        ['deletions', '--fields', 'a:text'],
        /^Error: deletions is taken by the service itself$/m,
      ],
      [
        'called like a table of deletions',
        ['brands_deletions', '--fields', 'a:text'],
        /^Error: brands_deletions is taken .* as all names that end in _deletions are$/m,
      ],
      [
        'called like a tally, whatever its singular',
        ['scratchTally', '--fields', 'a:text', '--singular', 'scratch'],
        /^Error: scratch_tally is taken .* as all names that end in _tally are$/m,
      ],
      [
        'called like a table of PostgreSQL',
        ['pg_tables', '--fields', 'a:text'],
        /^Error: pg_tables is taken by PostgreSQL/m,
      ],
      [
        'of an entity whose class is there',
        ['scratch_goods', '--fields', 'a:text', '--singular', 'brand'],
        /^Error: The entity would be called Brand, as that of brands is$/m,
      ],
      [
        'called like the type of an enumeration',
        ['product_type', '--fields', 'a:text', '--singular', 'scratch'],
        /^Error: The table would be called product_type, as an enumeration of products is$/m,
      ],
      [
        'of an enumeration whose type is there',
        ['scratch_orders', '--fields', 'itemType:enum=A/B'],
        /itemType would be of the type scratch_order_item_type, which is there already/,
      ],
      ['called by no word', ['1st', '--fields', 'a:text'], /1st cannot name a resource/],
      [
        'of a field of an unknown type',
        ['scratch_things', '--fields', 'a:float'],
        /The field a cannot be of the type float/,
      ],
      [
        'of a field twice',
        ['scratch_things', '--fields', 'a:text,a:json'],
        /The field a is described twice/,
      ],
      [
        'of fields that differ in case alone',
        ['scratch_things', '--fields', 'a:text,A:text'],
        /The field A differs from another in case only/,
      ],
      [
        'of a field that no column can bear',
        ['scratch_things', '--fields', '__proto__:text'],
        /"__proto__" cannot name a field/,
      ],
      [
        'of a filter that every list has',
        ['scratch_things', '--fields', 'limit:text:exact'],
        /limit would filter by limit, which every list has/,
      ],
      [
        'of two filters of one name',
        ['scratch_things', '--fields', 'a:decimal:interval,aMin:text:exact'],
        /The field aMin would filter by aMin, which the field a has/,
      ],
      [
        'of a filter for JSON',
        ['scratch_things', '--fields', 'a:json:exact'],
        /The field a cannot be exact; json can be null/,
      ],
      [
        'of a reference to nothing',
        ['scratch_things', '--fields', 'a:reference=scratch_makers:exact'],
        /a refers to scratch_makers, but there are only (\w+, )*categories, /,
      ],
      [
        'by a tree that is none',
        ['scratch_things', '--fields', 'a:reference=brands:tree'],
        'The field a cannot be tree: brands do not refer to themselves',
      ],
      [
        'of a reference to itself that is never null',
        ['scratch_things', '--fields', 'a:reference=scratch_things'],
        /so it must be null for some/,
      ],
      [
        'of an enumeration whose type has too long a name',
        ['longNamesOfManyThings', '--fields', `${'b'.repeat(45)}:enum=A/B`],
        /whose name is longer than 59 letters/,
      ],
      [
        'of an enumeration of one value',
        ['scratch_things', '--fields', 'a:enum=ONE'],
        /a needs two values at least/,
      ],
      [
        'counted without a filter',
        ['scratch_things', '--fields', 'a:text:counted'],
        /a is counted by its filter/,
      ],
      [
        'asked whether a field exists that always does',
        ['scratch_things', '--fields', 'a:text:exists'],
        /a always exists: exists needs null/,
      ],
      [
        'of a filter that is called like another field',
        ['scratch_things', '--fields', 'a:text:null:exists,aExists:boolean'],
        /The field aExists is called like a filter of another one/,
      ],
      [
        'from a file that is not there',
        ['scratch_things', '--from', 'nowhere.csv'],
        /nowhere.csv cannot be read: ENOENT/,
      ],
      [
        'from a file with numbers that lose digits',
        ['scratch_things', '--from', 'rounded.ndjson'],
        /The column n has the number 100000000000000000000: put its digits in quotes/,
      ],
      [
        'from a file and from fields',
        ['scratch_things', '--from', 'plants.ndjson', '--fields', 'a:text'],
        /not from both/,
      ],
      [
        'of an unknown type after fields with spaces',
        ['scratch_things', 'a:text, b:integer:exact,  c:nothing'],
        /The field c cannot be of the type nothing/,
      ],
    ];
    let refusals: readonly CommandResult[];
    let written: readonly string[];

    beforeAll(async () => {
      const module = join(copy.folder, 'src/app.module.ts');
      const before = await readFile(module, 'utf8');
      written = await added(copy, async () => {
        refusals = await copy.resources(refused.map(([, args]) => args));
      });
      if ((await readFile(module, 'utf8')) !== before) written = [...written, module];
    });

    it('before anything is written', () => {
      expect(written).toEqual([]);
    });

    it.each(refused.map(([what, , message], at) => [what, message, at] as const))(
      'if it is %s',
      (_, message, at) => {
        expect(refusals[at]?.stderr).toMatch(message);
        expect(refusals[at]?.status).toBe(1);
      },
    );
  });

  it('is refused if nobody names its fields', async () => {
    expect(await copy.resources([['scratch_things']])).toMatchObject([
      { stderr: expect.stringContaining('There are no fields'), status: 1 },
    ]);
  });

  it('is not generated by nest, which prints what to run: it ends with 0 whatever happens', async () => {
    const before = await copy.files();
    expect(await copy.nest('g', 'resource', 'scratch_things', 'a:text, b:enum=A/B')).toMatchObject({
      stderr: expect.stringMatching(
        /Run: npm run resource -- scratch_things 'a:text, b:enum=A\/B'$/m,
      ),
      status: 0,
    });
    expect(await copy.files()).toEqual(before);
  });

  it('keeps its line of the module if others are generated at the same time', async () => {
    const module = await readFile(join(copy.folder, 'src/app.module.ts'), 'utf8');
    for (const name of ['Geese', 'Proxies']) expect(module).toMatch(` ${name}Module,`);
  });

  it('is never called like a table or a path of the service itself', async () => {
    const client = new Client(database.url);
    await client.connect();
    const { rows } = await client.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class
       WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
       AND relname NOT IN (SELECT resource FROM tallies)`,
    );
    await client.end();
    const tables = rows.map(({ name }) => name);
    expect(tables).toEqual(expect.arrayContaining(['clients', 'watermark', 'brands_tally_deltas']));
    const paths = ['deletions', 'docs', 'facets', 'health', 'metrics'];
    for (const name of [...tables, ...paths]) {
      expect(() => namesOf(name, 'scratch')).toThrow(' is taken by the service itself');
    }
  });

  it('leaves the stock generators where they are', async () => {
    const { stdout } = await copy.nest('g', 'service', 'scratch', '--dry-run');
    expect(stdout).toContain('CREATE src/scratch/scratch.service.ts');
  });

  it('is formatted and lint-clean as generated, and compiles', async () => {
    const paths = (await copy.files()).filter((file) =>
      [...GENERATED, 'app.module'].some((name) => file.includes(name)),
    );
    expect(await copy.check(paths)).toEqual({ stdout: '', stderr: '', status: 0 });
  });

  it('passes the tests that were generated with it, and those of the schema', async () => {
    // In one file, which loads the service once.
    const tests = [...TESTED, 'database/schema'];
    await writeFile(
      join(copy.folder, 'test/generated.spec.ts'),
      tests.map((name) => `import './${name}.spec.js';\n`).join(''),
    );
    const { status, stderr } = await copy.jest('test/generated.spec');
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringContaining('1 passed, 1 total'),
    });
  });

  it('lists the rows of its example file as they went in', async () => {
    await copy.transpile();
    const maps = ['--map', 'plantId=plant id', '--map', 'grosseCm=Größe (cm)'];
    const [migrated, imported, stored, , issued] = await copy.catalogues(
      [
        ['migrate'],
        ['import', 'scratch_plants', 'plants.ndjson', ...maps],
        ['import', 'scratch_stores', 'stores.csv'],
        ['client', 'create', 'tester'],
        ['token', 'issue', 'tester'],
      ],
      database.url,
    );
    expect(migrated).toMatchObject({ status: 0 });
    expect(imported).toMatchObject({
      stdout: '10 inserted, 0 updated, 0 unchanged, 0 deleted\n',
      status: 0,
    });
    expect(stored?.stdout).toBe('1000 inserted, 0 updated, 0 unchanged, 0 deleted\n');
    const token = issued?.stdout ?? '';
    const address = await copy.start(database.url);
    const get = async (path: string) => {
      const response = await fetch(`${address}/${path}`, {
        headers: { 'X-Client-ID': 'tester', Authorization: `Bearer ${token.trim()}` },
      });
      const { response_data: data } = (await response.json()) as {
        response_data: { count: string; objects: Record<string, unknown>[] };
      };
      return data;
    };
    const listed = (await get('scratch_plants')).objects.map(({ createdAt, updatedAt, ...row }) => {
      expect([typeof createdAt, typeof updatedAt]).toEqual(['string', 'string']);
      return row;
    });
    const expected = PLANTS.map(({ 'plant id': plantId, 'Größe (cm)': grosseCm, ...row }) => ({
      ...row,
      plantId,
      grosseCm,
      // A decimal is a text, so that no reader rounds it.
      price: row.price === null ? null : String(row.price),
    }));
    expect(listed).toEqual(expected);
    const found = await get('scratch_stores?q=corner+abham');
    expect(found.objects.map(({ store_id }) => store_id)).toEqual(['S1', 'S677']);
    const { objects: states } = await get('facets/scratch_stores?facets=state&limit=100');
    expect(states).toHaveLength(52);
    expect(states[0]).toEqual({ field: 'state', value: 'aa', count: '20' });
    const [exported, verified] = await copy.catalogues(
      [['export', 'scratch_parts', '--format', 'ndjson'], ['verify']],
      database.url,
    );
    expect(exported).toMatchObject({ stdout: '', status: 0 });
    expect(verified).toMatchObject({ stdout: 'Nothing is off\n', status: 0 });
  });
});

// Last, since it leaves nothing of the copy.
describe('A command of the service', () => {
  it('builds it after a change, which the next command does not', async () => {
    // A service of one file, which is compiled in a tenth of the time.
    const main = join(copy.folder, 'src/main.ts');
    const built = join(copy.folder, 'dist/main.js');
    await rm(join(copy.folder, 'src'), { recursive: true });
    await mkdir(join(copy.folder, 'src'));
    await writeFile(main, 'process.exitCode = 0;\n');
    await writeFile(built, '');
    const build = async () => {
      await promisify(execFile)('npm', ['run', '-s', 'catalogue', '--', '--help'], {
        cwd: copy.folder,
      });
      return (await stat(built)).mtimeMs;
    };
    const { mtimeMs: before } = await stat(built);
    expect(await build()).toBe(before);
    const now = new Date();
    await utimes(main, now, now);
    const after = await build();
    expect(after).toBeGreaterThan(before);
    expect(await build()).toBe(after);
  });
});
