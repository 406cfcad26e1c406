import type { BrandID } from './brands.js';
import type { Colour } from './colours.js';

/** A kind of product: one entry of a department's range, made by several brands in several variants. */
export interface Kind {
  /**
   * What the thing is called after the brand and its line: `pour-over kettle`. `{size}` in it takes
   * the size (`{size} monitor arm`); otherwise the size follows the name.
   */
  readonly noun?: string;
  /** Whole names in place of brand, line and noun: the titles of books, the names of services. */
  readonly names?: readonly string[];
  /** Least and greatest price of the smallest size, in whole euros. */
  readonly price: readonly [number, number];
  /** Sizes, packs or formats, smallest first. */
  readonly sizes?: readonly string[];
  /** By how many per cent of the smallest size's price each next size is dearer; 0 unless said. */
  readonly step?: number;
  readonly colours?: readonly Colour[];
  /** Opening sentences; a description starts with one of them. */
  readonly about: readonly string[];
  /** Its makers, where not all of the category's brands make it. */
  readonly brands?: readonly BrandID[];
}

/** A category that holds products. */
export interface Shelf {
  readonly id: string;
  readonly name: string;
  /** The type of everything on the shelf; `PHYSICAL` unless said. */
  readonly type?: 'DIGITAL' | 'SERVICE';
  readonly brands: readonly BrandID[];
  readonly kinds: readonly Kind[];
  /** Sentences that are true of every product on the shelf. */
  readonly notes: readonly string[];
}

/** A category that holds categories. */
export interface Department {
  readonly id: string;
  readonly name: string;
  readonly children: readonly (Department | Shelf)[];
}
