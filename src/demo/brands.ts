/** A maker: all names are invented. */
export interface Brand {
  readonly name: string;
  /** How its SKUs start. */
  readonly sku: string;
  /** The currency it invoices in; EUR unless said. */
  readonly currency?: 'USD' | 'GBP' | 'JPY';
  /** Its product lines: `Nordlys Vega table lamp`. */
  readonly lines: readonly string[];
  /** What its products' descriptions may close with. */
  readonly says: readonly string[];
}

const makers = {
  amagumo: {
    name: 'Amagumo',
    sku: 'AMG',
    currency: 'JPY',
    lines: ['Asagiri', 'Kawara', 'Shigure', 'Tsubame', 'Hoshi'],
    says: [
      'Amagumo works with five family kilns and tea gardens.',
      'Shipped in a paper-lined box.',
    ],
  },
  bramblecote: {
    name: 'Bramblecote',
    sku: 'BRM',
    currency: 'GBP',
    lines: ['Orchard', 'Hedgerow', 'Larder', 'Harvest', 'Meadow'],
    says: [
      'Made in small batches at Bramblecote Farm.',
      'A Bramblecote favourite since the first year.',
    ],
  },
  'brasero-alto': {
    name: 'Brasero Alto',
    sku: 'BRA',
    lines: ['Forja', 'Lumbre', 'Brasa', 'Ceniza', 'Encina'],
    says: ['Brasero Alto has cast and forged iron since 1961.', 'A Brasero Alto classic.'],
  },
  'cafe-merlenoir': {
    name: 'Café Merlenoir',
    sku: 'MRN',
    lines: ['Matin', 'Midi', 'Minuit', 'Dimanche', 'Terrasse'],
    says: [
      'Chosen by the baristas of Café Merlenoir.',
      'In daily use in the Merlenoir coffee bars.',
    ],
  },
  'casa-nove-azulejos': {
    name: 'Casa Nove Azulejos',
    sku: 'CNA',
    lines: ['Ribeira', 'Foz', 'Miragaia', 'Lapa', 'Cedofeita'],
    says: [
      'Designed and finished in the north of Portugal.',
      'Part of the Casa Nove Azulejos house line.',
    ],
  },
  'cedar-sextant': {
    name: 'Cedar & Sextant',
    sku: 'CSX',
    currency: 'USD',
    lines: ['Harbor', 'Compass', 'Mesa', 'Lantern', 'Ferry'],
    says: ['Backed by the Cedar & Sextant repair guarantee.', 'Designed on the Oregon coast.'],
  },
  'cycles-tournevent': {
    name: 'Cycles Tournevent',
    sku: 'TRV',
    lines: ['Ville', 'Grand Tour', 'Colline', 'Petit Pont', 'Canal'],
    says: [
      'Cycles Tournevent has kept its town on two wheels since 1953.',
      'From cyclists, for cyclists.',
    ],
  },
  'drumlin-trail': {
    name: 'Drumlin Trail',
    sku: 'DRT',
    currency: 'USD',
    lines: ['Ridge', 'Switchback', 'Saddle', 'Basin', 'Cairn'],
    says: [
      'Tested for a full season by Drumlin Trail guides.',
      'Drumlin Trail gives a five-year warranty.',
    ],
  },
  fjellgryte: {
    name: 'Fjellgryte',
    sku: 'FJG',
    lines: ['Bakke', 'Vik', 'Dal', 'Nes', 'Tun'],
    says: [
      'Fjellgryte keeps its kitchen things plain and repairable.',
      'Comes with a ten-year guarantee.',
    ],
  },
  'foglia-margine': {
    name: 'Foglia & Margine',
    sku: 'FGM',
    lines: ['Radice', 'Ramo', 'Seme'],
    says: ['Foglia & Margine publishes twelve titles a year.', 'A Foglia & Margine staff choice.'],
  },
  'golondrina-papel': {
    name: 'Golondrina Papel',
    sku: 'GOL',
    lines: ['Vuelo', 'Nube', 'Ala', 'Verano', 'Marea'],
    says: ['Made in the Golondrina workshop.', 'Packed without plastic.'],
  },
  gronnevang: {
    name: 'Grønnevang',
    sku: 'GRV',
    lines: ['Eng', 'Have', 'Sti', 'Bæk', 'Skov'],
    says: ['Tried out in the Grønnevang show garden.', 'Grønnevang plants a tree for every order.'],
  },
  grubenthal: {
    name: 'Grubenthal',
    sku: 'GRB',
    lines: ['Edelbitter', 'Almrausch', 'Sonntag', 'Gipfel', 'Stollen'],
    says: ['Grubenthal grinds its own cocoa.', 'Wrapped by hand in recycled paper.'],
  },
  halvorsund: {
    name: 'Halvorsund',
    sku: 'HVS',
    lines: ['Tind', 'Vidde', 'Bre', 'Skar', 'Foss'],
    says: [
      'Halvorsund repairs its gear for as long as you own it.',
      'Made for wet and windy coasts.',
    ],
  },
  heimhobel: {
    name: 'Heimhobel',
    sku: 'HMH',
    lines: ['Heim', 'Haus', 'Hof'],
    says: ['Heimhobel sends the same trained team each time.', 'Fully insured.'],
  },
  'hollow-elm': {
    name: 'Hollow Elm Press',
    sku: 'HEP',
    currency: 'GBP',
    lines: ['Almanac', 'Pocket', 'Fireside'],
    says: ['From the Hollow Elm Press country list.', 'A favourite with Hollow Elm readers.'],
  },
  'inkwell-thistle': {
    name: 'Inkwell & Thistle',
    sku: 'INK',
    currency: 'GBP',
    lines: ['Folio', 'Margin', 'Ledger', 'Quire', 'Postscript'],
    says: [
      'Inkwell & Thistle still answers letters by hand.',
      'From the Inkwell & Thistle writing room.',
    ],
  },
  jarnbjork: {
    name: 'Järnbjörk',
    sku: 'JBK',
    lines: ['Smed', 'Ek', 'Stig', 'Rot', 'Klinga'],
    says: ['Järnbjörk is a forge with its own small sawmill.', 'Made to be passed on.'],
  },
  'kastanje-kind': {
    name: 'Kastanje & Kind',
    sku: 'KAK',
    lines: ['Ekorn', 'Bever', 'Mus', 'Ugle', 'Grevling'],
    says: [
      'Kastanje & Kind tests every toy in two kindergartens.',
      'Made to last for more than one childhood.',
    ],
  },
  klangdeich: {
    name: 'Klangdeich',
    sku: 'KLD',
    lines: ['Bug', 'Heck', 'Lotse', 'Pegel', 'Kogge'],
    says: [
      'Klangdeich solders by hand and measures every unit.',
      'Comes with a three-year warranty.',
    ],
  },
  klarheim: {
    name: 'Klarheim',
    sku: 'KLH',
    lines: ['Alma', 'Jona', 'Edda', 'Tilda', 'Enno'],
    says: ['Klarheim has furnished homes since 1934.', 'Packed in cardboard, without foam.'],
  },
  'kniff-konnen': {
    name: 'Kniff & Können',
    sku: 'KNF',
    lines: ['Anker', 'Kiel', 'Mast'],
    says: [
      'Kniff & Können teachers all work in the trade they teach.',
      'A certificate is available.',
    ],
  },
  kurotsuchi: {
    name: 'Kurotsuchi',
    sku: 'KUR',
    currency: 'JPY',
    lines: ['Hagane', 'Nami', 'Ishi', 'Matsu', 'Kaze'],
    says: ['Kurotsuchi works in a village of smiths.', 'Wrapped in waxed paper.'],
  },
  'little-otterbank': {
    name: 'Little Otterbank',
    sku: 'LOB',
    currency: 'GBP',
    lines: ['Paddle', 'Burrow', 'Willow', 'Pebble', 'Puddle'],
    says: ['Little Otterbank uses water-based paints and inks.', 'Made to be handed down.'],
  },
  'lowenzahn-sohne': {
    name: 'Löwenzahn & Söhne',
    sku: 'LWZ',
    lines: ['Wiese', 'Laube', 'Beet', 'Hain', 'Rain'],
    says: [
      'Löwenzahn & Söhne has supplied nurseries for three generations.',
      'A Löwenzahn & Söhne classic.',
    ],
  },
  nordlys: {
    name: 'Nordlys',
    sku: 'NOR',
    lines: ['Vega', 'Lyra', 'Mira', 'Capella', 'Alkor'],
    says: [
      'Nordlys has made lamps in the far north since 1978.',
      'All electrical parts can be replaced.',
    ],
  },
  'oat-anvil': {
    name: 'Oat & Anvil',
    sku: 'OAT',
    currency: 'USD',
    lines: ['Smokehouse', 'Prairie', 'Foundry', 'Ember', 'Homestead'],
    says: ['Oat & Anvil tests everything on its own back porch.', 'Made in Ohio, in small runs.'],
  },
  octavine: {
    name: 'Octavine',
    sku: 'OCT',
    lines: ['Prelude', 'Nocturne', 'Cadence', 'Étude', 'Rondo'],
    says: [
      'Tuned by ear in the Octavine listening room.',
      'Octavine offers spare parts for eight years.',
    ],
  },
  'olivar-del-cierzo': {
    name: 'Olivar del Cierzo',
    sku: 'OLV',
    lines: ['Reserva', 'Temprana', 'Tradición', 'Sierra', 'Familiar'],
    says: ['Grown and packed on the Cierzo estate.', 'The harvest date is on the label.'],
  },
  ombrelune: {
    name: 'Chocolaterie Ombrelune',
    sku: 'OMB',
    lines: ['Minuit', 'Croissant de Lune', 'Éclipse', 'Velours', 'Aurore'],
    says: [
      'Ombrelune buys its cocoa directly from three cooperatives.',
      'Ready to give as a present.',
    ],
  },
  'pastificio-sorgiva': {
    name: 'Pastificio Sorgiva',
    sku: 'SRG',
    lines: ['Antica', 'Rustica', 'Festa', 'Integrale', 'Casa'],
    says: ['Milled and dried under one roof.', 'Pastificio Sorgiva is run by four sisters.'],
  },
  pawsgrove: {
    name: 'Pawsgrove',
    sku: 'PWG',
    lines: ['Scout', 'Clover', 'Biscuit', 'Bramble', 'Mallow'],
    says: ['Pawsgrove gives part of each sale to animal shelters.', 'Checked by a vet.'],
  },
  pinqvist: {
    name: 'Pinqvist',
    sku: 'PNQ',
    lines: ['Rak', 'Spann', 'Lätt', 'Ordning', 'Plan'],
    says: ['Pinqvist keeps the shape plain and the colours quiet.', 'Designed in Uppsala.'],
  },
  pixelmoor: {
    name: 'Pixelmoor',
    sku: 'PXM',
    currency: 'USD',
    lines: ['Grain', 'Heather', 'Peat', 'Mist', 'Curlew'],
    says: ['Pixelmoor publishes free updates for two years.', 'Made by a team of three.'],
  },
  'poterie-argilune': {
    name: "Poterie d'Argilune",
    sku: 'ARG',
    lines: ['Marée', 'Galet', 'Bruyère', 'Écume', 'Falaise'],
    says: [
      'Thrown and glazed in Brittany.',
      'Small differences in the glaze are the mark of the hand.',
    ],
  },
  'rosterei-nebelkai': {
    name: 'Rösterei Nebelkai',
    sku: 'RNK',
    lines: ['Leuchtturm', 'Speicher 7', 'Frühschicht', 'Möwe', 'Ebbe'],
    says: [
      'Roasted on Tuesdays and sent out on Wednesdays.',
      'The roasting date is stamped on the bag.',
    ],
  },
  'savonnerie-cantelune': {
    name: 'Savonnerie Cantelune',
    sku: 'CTL',
    lines: ['Lavande', 'Figue', 'Verveine', 'Amande', 'Fleur de sel'],
    says: ['Made in Provence since 1922.', 'Savonnerie Cantelune uses no palm oil.'],
  },
  schnurrwinkel: {
    name: 'Schnurrwinkel',
    sku: 'SNW',
    lines: ['Mieze', 'Samt', 'Pfote', 'Tatze', 'Minka'],
    says: ['Tried out by the twelve Schnurrwinkel cats.', 'A Schnurrwinkel bestseller.'],
  },
  speichenwald: {
    name: 'Speichenwald',
    sku: 'SPW',
    lines: ['Buche', 'Lärche', 'Kiefer', 'Ahorn', 'Linde'],
    says: [
      'Speichenwald rides everything it sells.',
      'Named after the trees outside the workshop.',
    ],
  },
  stichfalter: {
    name: 'Stichfalter',
    sku: 'STF',
    lines: ['Saum', 'Stich', 'Kante', 'Falte', 'Biese'],
    says: [
      'Every Stichfalter pattern is tested by ten home sewers.',
      'Questions are answered by e-mail.',
    ],
  },
  'studio-kvarnsten': {
    name: 'Studio Kvarnsten',
    sku: 'KVS',
    lines: ['Mjöl', 'Hjul', 'Kvarn', 'Korn', 'Damm'],
    says: ['Designed to be taken apart and repaired.', 'Signed by Studio Kvarnsten.'],
  },
  'telaio-bianco': {
    name: 'Telaio Bianco',
    sku: 'TLB',
    lines: ['Alba', 'Brezza', 'Salina', 'Sera', 'Nuvola'],
    says: ['Woven and washed in one Italian mill.', 'Telaio Bianco dyes without heavy metals.'],
  },
  ullarholt: {
    name: 'Ullarholt',
    sku: 'ULH',
    lines: ['Fífa', 'Lyng', 'Mosi', 'Hraun', 'Birki'],
    says: [
      'Ullarholt charts are drawn large and checked twice.',
      'Written with beginners in mind.',
    ],
  },
  voltquist: {
    name: 'Voltquist',
    sku: 'VLQ',
    lines: ['Core', 'Loop', 'Relay', 'Spark', 'Node'],
    says: [
      'Voltquist ships it without single-use plastic.',
      'Certified for use throughout Europe.',
    ],
  },
  'wexmoor-daughters': {
    name: 'Wexmoor & Daughters',
    sku: 'WXM',
    currency: 'GBP',
    lines: ['Fell', 'Tarn', 'Heath', 'Beck', 'Rowan'],
    says: [
      'Wexmoor & Daughters mends what it sells.',
      'From a family workshop in the north of England.',
    ],
  },
} as const satisfies Readonly<Record<string, Brand>>;

export type BrandID = keyof typeof makers;

export const brands: Readonly<Record<BrandID, Brand>> = makers;
