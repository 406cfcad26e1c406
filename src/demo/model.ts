import { brands } from './brands.js';
import type { BrandID } from './brands.js';
import { skuOfColour } from './colours.js';
import type { Kind, Shelf } from './department.js';
import type { Random } from './random.js';

/** One thing by one maker, in the variants in which it is sold; each variant is a product. */
export interface Model {
  readonly shelf: Shelf;
  readonly brandID: BrandID;
  /** The five digits in the SKUs of all its variants. */
  readonly number: number;
  /** The opening sentence of its description. */
  readonly about: string;
  /** The price of the smallest size, in euro cents. */
  readonly cents: number;
  readonly variants: readonly Variant[];
}

export interface Variant {
  readonly name: string;
  /** What its SKU has after the model's number: `['24X', 'BLK']`. */
  readonly sku: readonly string[];
  /** Its price, as a percentage of the price of the smallest size. */
  readonly percent: number;
}

/** Everything on a shelf. No two models have the same name. */
export function* modelsOf(shelf: Shelf, random: Random): Generator<Model> {
  for (const kind of shelf.kinds) {
    const makers = kind.brands ?? shelf.brands;
    const named = kind.names?.map((name) => ({ name, brandID: random.pick(makers) }));
    for (const { name, brandID } of named ?? someOf(kind, makers, random)) {
      const [least, greatest] = kind.price;
      yield {
        shelf,
        brandID,
        number: random.between(10_000, 99_999),
        about: random.pick(kind.about),
        // The lower of two draws: a shop has more cheap things than dear ones.
        cents: Math.min(
          random.between(least * 100, greatest * 100),
          random.between(least * 100, greatest * 100),
        ),
        variants: variantsOf(kind, name, random),
      };
    }
  }
}

/** Some of the lines of the makers, each with its own version of this kind of thing. */
function someOf(
  kind: Kind,
  makers: readonly BrandID[],
  random: Random,
): { name: string; brandID: BrandID }[] {
  const all = makers.flatMap((brandID) =>
    brands[brandID].lines.map((line) => ({
      name: `${brands[brandID].name} ${line} ${kind.noun ?? ''}`,
      brandID,
    })),
  );
  return random.shuffled(all).slice(0, random.between(4, 8));
}

function variantsOf(kind: Kind, name: string, random: Random): Variant[] {
  const { sizes = [], step = 0, colours = [] } = kind;
  const from = random.below(Math.max(sizes.length - 1, 1));
  const chosenSizes = kind.names ? sizes : sizes.slice(from, from + random.between(1, 3));
  const chosenColours = random.shuffled(colours).slice(0, random.between(1, 3));
  return orNone(chosenSizes).flatMap((size) =>
    orNone(chosenColours).map((colour) => ({
      name: [withSize(name, size), ...(colour === undefined ? [] : [colour])].join(', '),
      sku: [
        ...(size === undefined ? [] : [skuOfSize(size)]),
        ...(colour === undefined ? [] : [skuOfColour[colour]]),
      ],
      percent: size === undefined ? 100 : 100 + step * sizes.indexOf(size),
    })),
  );
}

/** A thing without sizes (or colours) still has one variant. */
function orNone<T>(choices: readonly T[]): readonly (T | undefined)[] {
  return choices.length > 0 ? choices : [undefined];
}

function withSize(name: string, size: string | undefined): string {
  if (size === undefined) return name;
  return name.includes('{size}') ? name.replace('{size}', size) : `${name}, ${size}`;
}

/** `1.5 l` is `15L`, `two-seat` `TWOSEA`, `jigsaw, 500 pcs` `JIG500PCS`. */
function skuOfSize(size: string): string {
  const parts = size.replace('−', 'minus').match(/[0-9]+|[A-Za-z]+/g) ?? [];
  return parts
    .map((part) => (/^[0-9]/.test(part) ? part : part.slice(0, 3).toUpperCase()))
    .join('');
}
