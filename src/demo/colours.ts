/** Every colour the shop sells, and what it is called in a SKU. */
const codes = {
  black: 'BLK',
  'matte black': 'MBK',
  graphite: 'GRA',
  charcoal: 'CHA',
  'slate grey': 'SLT',
  white: 'WHT',
  cream: 'CRM',
  oat: 'OAT',
  sand: 'SND',
  natural: 'NAT',
  mustard: 'MUS',
  yellow: 'YEL',
  orange: 'ORG',
  terracotta: 'TER',
  rust: 'RST',
  red: 'RED',
  burgundy: 'BUR',
  'dusty rose': 'ROS',
  'sky blue': 'SKY',
  'sea blue': 'SEA',
  navy: 'NVY',
  sage: 'SGE',
  olive: 'OLV',
  'forest green': 'FOR',
  cognac: 'COG',
  'dark brown': 'BRN',
  birch: 'BIR',
  ash: 'ASH',
  oak: 'OAK',
  'smoked oak': 'SMO',
  walnut: 'WAL',
  silver: 'SLV',
  'brushed steel': 'STL',
  brass: 'BRS',
  copper: 'COP',
} as const;

export type Colour = keyof typeof codes;

export const skuOfColour: Readonly<Record<Colour, string>> = codes;

export const woods: readonly Colour[] = ['oak', 'smoked oak', 'walnut', 'ash', 'birch'];
export const metals: readonly Colour[] = ['matte black', 'brushed steel', 'brass', 'copper'];
export const coats: readonly Colour[] = ['white', 'matte black', 'sage', 'terracotta', 'navy'];
export const glazes: readonly Colour[] = [
  'cream',
  'slate grey',
  'sea blue',
  'sage',
  'terracotta',
  'matte black',
];
export const linens: readonly Colour[] = [
  'white',
  'oat',
  'sand',
  'dusty rose',
  'sage',
  'sea blue',
  'rust',
  'charcoal',
];
export const wools: readonly Colour[] = ['cream', 'charcoal', 'navy', 'mustard', 'burgundy'];
export const leathers: readonly Colour[] = ['black', 'cognac', 'dark brown'];
export const gear: readonly Colour[] = ['black', 'olive', 'rust', 'navy', 'slate grey', 'mustard'];
export const brights: readonly Colour[] = ['red', 'yellow', 'sky blue', 'forest green', 'orange'];
export const devices: readonly Colour[] = ['black', 'white', 'graphite', 'silver'];
