// Written by `npx @catalogue/client generate` from the OpenAPI document of the service. Do not edit it.
import {
  type CatalogueOptions,
  Mirror,
  type MirrorFields,
  type MirrorOptions,
  type MirrorStores,
  Resource,
  Transport,
} from '@catalogue/client';

export interface Product {
  /**
   * Identifies the product.
   * @example p-000006
   */
  readonly productID: string;
  /**
   * The merchant’s own reference.
   * @example TRV-73667-S-BUR
   */
  readonly refID: string | null;
  /** What is sold: a thing, a file or a service. */
  readonly type: 'PHYSICAL' | 'DIGITAL' | 'SERVICE';
  /**
   * What the product is called.
   * @example Cycles Tournevent Ville touring bike, S, burgundy
   */
  readonly name: string | null;
  /**
   * A text about the product.
   * @example Wide gears, hub dynamo and room for broad tyres. The first inspection is free. Cycles Tournevent has kept its town on two wheels since 1953.
   */
  readonly description: string | null;
  /**
   * The brand, by identifier.
   * @example cycles-tournevent
   */
  readonly brandID: string | null;
  /**
   * The category that the product is directly in, by identifier.
   * @example outdoor-bikes
   */
  readonly categoryID: string | null;
  /**
   * What one costs, in units of the currency, with the decimals that it came with.
   * @example 1789.00
   */
  readonly price: string | null;
  /**
   * The currency of the price, ISO 4217.
   * @example EUR
   */
  readonly currency: string | null;
  /**
   * Pieces at hand; null where none are kept.
   * @example 1
   */
  readonly stock: number | null;
  /**
   * Its colours, as a shop groups them.
   * @example ["red"]
   */
  readonly colours: readonly string[] | null;
  /**
   * Where there is a picture of the product.
   * @example https://images.example.com/cycles-tournevent/trv-73667-s-bur.jpg
   */
  readonly imageURL: string | null;
  /**
   * When the product was first stored.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly createdAt: string;
  /**
   * When the product was changed last.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly updatedAt: string;
  /** The object that `brandID` refers to; null if there is none. */
  readonly brand?: Brand | null;
  /** The object that `categoryID` refers to; null if there is none. */
  readonly category?: Category | null;
  /** Objects that refer to this one, at most 20. */
  readonly variants?: readonly Variant[];
  /** The number of all `variants`. */
  readonly variantsCount?: string;
}

export interface Category {
  /**
   * Identifies the category.
   * @example kitchen-cooking
   */
  readonly categoryID: string;
  /**
   * The category directly above, by identifier; null at the top.
   * @example kitchen
   */
  readonly parentID: string | null;
  /**
   * What the category is called.
   * @example Cooking & baking
   */
  readonly name: string;
  /**
   * When the category was first stored.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly createdAt: string;
  /**
   * When the category was changed last.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly updatedAt: string;
  /** The object that `parentID` refers to; null if there is none. */
  readonly parent?: Category | null;
}

export interface Brand {
  /**
   * Identifies the brand.
   * @example amagumo
   */
  readonly brandID: string;
  /**
   * What the brand is called.
   * @example Amagumo
   */
  readonly name: string;
  /**
   * When the brand was first stored.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly createdAt: string;
  /**
   * When the brand was changed last.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly updatedAt: string;
}

export interface Variant {
  /**
   * Identifies the variant.
   * @example p-000418-2
   */
  readonly variantID: string;
  /**
   * The product that it is a variant of, by identifier.
   * @example p-000418
   */
  readonly productID: string;
  /**
   * What sets the variant apart, such as a size or a grind.
   * @example Filter
   */
  readonly name: string;
  /**
   * What one costs, in units of the currency; null as for the product.
   * @example 12.95
   */
  readonly price: string | null;
  /**
   * The currency of the price, ISO 4217.
   * @example EUR
   */
  readonly currency: string | null;
  /**
   * Pieces at hand; null where none are kept.
   * @example 53
   */
  readonly stock: number | null;
  /**
   * When the variant was first stored.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly createdAt: string;
  /**
   * When the variant was changed last.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly updatedAt: string;
  /** The object that `productID` refers to; null if there is none. */
  readonly product?: Product | null;
}

/** The types of each resource: of its objects, and of what its methods take. */
export interface Resources {
  readonly products: {
    readonly identifier: 'productID';
    readonly object: Product;
    readonly query: {
      /** Most objects to return; 0 answers with the count alone. */
      readonly limit?: number;
      /** How many matching objects to skip; past the end is an empty page. */
      readonly offset?: number;
      /** The products with these identifiers. */
      readonly productID?: readonly string[];
      /** The products with these references. */
      readonly refID?: readonly string[];
      /** The products of these types. */
      readonly type?: readonly ('PHYSICAL' | 'DIGITAL' | 'SERVICE')[];
      /** The products of all types but these. */
      readonly typeNot?: readonly ('PHYSICAL' | 'DIGITAL' | 'SERVICE')[];
      /** The products of these brands. */
      readonly brandID?: readonly string[];
      /** The products of all brands but these, and those without a brand. */
      readonly brandIDNot?: readonly string[];
      /** The products with a brand, or those without one. */
      readonly brandIDExists?: boolean;
      /** The products in these categories themselves, not in those below. */
      readonly categoryID?: readonly string[];
      /** The products in a category, or those in none. */
      readonly categoryIDExists?: boolean;
      /** The products in these categories and in all categories below them. */
      readonly within?: readonly string[];
      /** The products with all these words in name, description and reference, or with exactly this identifier. A word that ends in `*` is the beginning of one, 2 characters or more. At most 20 different words in 500 characters. With it, `sort` may begin with `relevance`. */
      readonly q?: string;
      /** The products whose currency is one of these. */
      readonly currency?: readonly string[];
      /** The products in one of these colours. */
      readonly colours?: readonly string[];
      /** The products in all of these colours. */
      readonly coloursAll?: readonly string[];
      /** The products in none of these colours, and those without a colour. */
      readonly coloursNot?: readonly string[];
      /** The products with a colour, or those without one, whether null or empty. */
      readonly coloursExists?: boolean;
      /** The products with a variant of one of these names. */
      readonly variant?: readonly string[];
      /** The products that cost at least this, whatever the currency. */
      readonly priceMin?: number | string;
      /** The products that cost at most this, whatever the currency. */
      readonly priceMax?: number | string;
      /** The products with a price, or those without one. */
      readonly priceExists?: boolean;
      /** The products with a stock of one or more, or with none; those that keep no stock are neither. */
      readonly inStock?: boolean;
      /** The products with at least this stock. */
      readonly stockMin?: number;
      /** The products first stored at this time or later. */
      readonly createdSince?: Date | string;
      /** The products first stored before this time. */
      readonly createdUntil?: Date | string;
      /** The products changed at this time or later. */
      readonly updatedSince?: Date | string;
      /** The products changed last before this time. */
      readonly updatedUntil?: Date | string;
      /** The fields of each object, in the order of the resource. Default: `productID,refID,type,name,description,brandID,categoryID,price,currency,stock,colours,imageURL,createdAt,updatedAt`. */
      readonly fields?: readonly (
        | 'productID'
        | 'refID'
        | 'type'
        | 'name'
        | 'description'
        | 'brandID'
        | 'categoryID'
        | 'price'
        | 'currency'
        | 'stock'
        | 'colours'
        | 'imageURL'
        | 'createdAt'
        | 'updatedAt'
        | 'brand.brandID'
        | 'brand.name'
        | 'brand.createdAt'
        | 'brand.updatedAt'
        | 'category.categoryID'
        | 'category.parentID'
        | 'category.name'
        | 'category.createdAt'
        | 'category.updatedAt'
        | 'variants.variantID'
        | 'variants.productID'
        | 'variants.name'
        | 'variants.price'
        | 'variants.currency'
        | 'variants.stock'
        | 'variants.createdAt'
        | 'variants.updatedAt'
      )[];
      /** The related objects of each object: one that it refers to, or null; or a list of those that refer to it, beside `<name>Count`, the number of all of them. `fields` names fields of them as `<name>.<field>`. */
      readonly include?: readonly ('brand' | 'category' | 'variants')[];
      /** The page begins behind the object with this identifier, in the order of the list; not together with offset. */
      readonly after?: string;
      /** The order, by these fields, `-` before one for descending; ties are ordered by identifier, in the direction of the last field. Default: `productID`. */
      readonly sort?: readonly (
        | 'relevance'
        | 'productID'
        | '-productID'
        | 'name'
        | '-name'
        | 'price'
        | '-price'
        | 'createdAt'
        | '-createdAt'
        | 'updatedAt'
        | '-updatedAt'
      )[];
    };
    readonly objectQuery: {
      /** The fields of each object, in the order of the resource. Default: `productID,refID,type,name,description,brandID,categoryID,price,currency,stock,colours,imageURL,createdAt,updatedAt`. */
      readonly fields?: readonly (
        | 'productID'
        | 'refID'
        | 'type'
        | 'name'
        | 'description'
        | 'brandID'
        | 'categoryID'
        | 'price'
        | 'currency'
        | 'stock'
        | 'colours'
        | 'imageURL'
        | 'createdAt'
        | 'updatedAt'
        | 'brand.brandID'
        | 'brand.name'
        | 'brand.createdAt'
        | 'brand.updatedAt'
        | 'category.categoryID'
        | 'category.parentID'
        | 'category.name'
        | 'category.createdAt'
        | 'category.updatedAt'
        | 'variants.variantID'
        | 'variants.productID'
        | 'variants.name'
        | 'variants.price'
        | 'variants.currency'
        | 'variants.stock'
        | 'variants.createdAt'
        | 'variants.updatedAt'
      )[];
      /** The related objects of each object: one that it refers to, or null; or a list of those that refer to it, beside `<name>Count`, the number of all of them. `fields` names fields of them as `<name>.<field>`. */
      readonly include?: readonly ('brand' | 'category' | 'variants')[];
    };
    readonly facetQuery: {
      /** Most values of each field; 0 answers with the count alone. */
      readonly limit?: number;
      /** The fields to count, in the order of the resource. Numbers, times, trees and what tells whether there is a value are counted if they are named. `q`: up to five texts near one that finds nothing, if it is named. Default: `type,brandID,categoryID,currency,colours,inStock`. */
      readonly facets?: readonly (
        | 'type'
        | 'brandID'
        | 'brandIDExists'
        | 'categoryID'
        | 'categoryIDExists'
        | 'price'
        | 'currency'
        | 'colours'
        | 'coloursExists'
        | 'createdAt'
        | 'updatedAt'
        | 'inStock'
        | 'within'
        | 'q'
      )[];
      /** The values that begin so, or whose label does, whatever their case and accents. Requires `facets` to name one field. */
      readonly facetStarts?: string;
      /** The bounds of intervals, in ascending order, at most 50: the objects in each are counted. Requires `facets` to name one number or time. The lower bound belongs to an interval, the upper one does not. */
      readonly bounds?: readonly string[];
      /** The products with these identifiers. */
      readonly productID?: readonly string[];
      /** The products with these references. */
      readonly refID?: readonly string[];
      /** The products of these types. */
      readonly type?: readonly ('PHYSICAL' | 'DIGITAL' | 'SERVICE')[];
      /** The products of all types but these. */
      readonly typeNot?: readonly ('PHYSICAL' | 'DIGITAL' | 'SERVICE')[];
      /** The products of these brands. */
      readonly brandID?: readonly string[];
      /** The products of all brands but these, and those without a brand. */
      readonly brandIDNot?: readonly string[];
      /** The products with a brand, or those without one. */
      readonly brandIDExists?: boolean;
      /** The products in these categories themselves, not in those below. */
      readonly categoryID?: readonly string[];
      /** The products in a category, or those in none. */
      readonly categoryIDExists?: boolean;
      /** The products in these categories and in all categories below them. */
      readonly within?: readonly string[];
      /** The products with all these words in name, description and reference, or with exactly this identifier. A word that ends in `*` is the beginning of one, 2 characters or more. At most 20 different words in 500 characters. With it, `sort` may begin with `relevance`. */
      readonly q?: string;
      /** The products whose currency is one of these. */
      readonly currency?: readonly string[];
      /** The products in one of these colours. */
      readonly colours?: readonly string[];
      /** The products in all of these colours. */
      readonly coloursAll?: readonly string[];
      /** The products in none of these colours, and those without a colour. */
      readonly coloursNot?: readonly string[];
      /** The products with a colour, or those without one, whether null or empty. */
      readonly coloursExists?: boolean;
      /** The products with a variant of one of these names. */
      readonly variant?: readonly string[];
      /** The products that cost at least this, whatever the currency. */
      readonly priceMin?: number | string;
      /** The products that cost at most this, whatever the currency. */
      readonly priceMax?: number | string;
      /** The products with a price, or those without one. */
      readonly priceExists?: boolean;
      /** The products with a stock of one or more, or with none; those that keep no stock are neither. */
      readonly inStock?: boolean;
      /** The products with at least this stock. */
      readonly stockMin?: number;
      /** The products first stored at this time or later. */
      readonly createdSince?: Date | string;
      /** The products first stored before this time. */
      readonly createdUntil?: Date | string;
      /** The products changed at this time or later. */
      readonly updatedSince?: Date | string;
      /** The products changed last before this time. */
      readonly updatedUntil?: Date | string;
    };
  };
  readonly categories: {
    readonly identifier: 'categoryID';
    readonly object: Category;
    readonly query: {
      /** Most objects to return; 0 answers with the count alone. */
      readonly limit?: number;
      /** How many matching objects to skip; past the end is an empty page. */
      readonly offset?: number;
      /** The categories with these identifiers. */
      readonly categoryID?: readonly string[];
      /** These categories and all below them. */
      readonly within?: readonly string[];
      /** The categories directly below this one. */
      readonly parentID?: string;
      /** The categories below another one, or those at the top. */
      readonly parentIDExists?: boolean;
      /** The categories of exactly this name. */
      readonly name?: string;
      /** The categories changed at this time or later. */
      readonly updatedSince?: Date | string;
      /** The categories changed last before this time. */
      readonly updatedUntil?: Date | string;
      /** The fields of each object, in the order of the resource. Default: `categoryID,parentID,name,createdAt,updatedAt`. */
      readonly fields?: readonly (
        | 'categoryID'
        | 'parentID'
        | 'name'
        | 'createdAt'
        | 'updatedAt'
        | 'parent.categoryID'
        | 'parent.parentID'
        | 'parent.name'
        | 'parent.createdAt'
        | 'parent.updatedAt'
      )[];
      /** The related objects of each object: one that it refers to, or null; or a list of those that refer to it, beside `<name>Count`, the number of all of them. `fields` names fields of them as `<name>.<field>`. */
      readonly include?: readonly 'parent'[];
      /** The page begins behind the object with this identifier, in the order of the list; not together with offset. */
      readonly after?: string;
      /** The order, by these fields, `-` before one for descending; ties are ordered by identifier, in the direction of the last field. Default: `categoryID`. */
      readonly sort?: readonly ('categoryID' | '-categoryID' | 'name' | '-name')[];
    };
    readonly objectQuery: {
      /** The fields of each object, in the order of the resource. Default: `categoryID,parentID,name,createdAt,updatedAt`. */
      readonly fields?: readonly (
        | 'categoryID'
        | 'parentID'
        | 'name'
        | 'createdAt'
        | 'updatedAt'
        | 'parent.categoryID'
        | 'parent.parentID'
        | 'parent.name'
        | 'parent.createdAt'
        | 'parent.updatedAt'
      )[];
      /** The related objects of each object: one that it refers to, or null; or a list of those that refer to it, beside `<name>Count`, the number of all of them. `fields` names fields of them as `<name>.<field>`. */
      readonly include?: readonly 'parent'[];
    };
    readonly facetQuery: never;
  };
  readonly brands: {
    readonly identifier: 'brandID';
    readonly object: Brand;
    readonly query: {
      /** Most objects to return; 0 answers with the count alone. */
      readonly limit?: number;
      /** How many matching objects to skip; past the end is an empty page. */
      readonly offset?: number;
      /** The brands with these identifiers. */
      readonly brandID?: readonly string[];
      /** The brands of exactly this name. */
      readonly name?: string;
      /** The brands changed at this time or later. */
      readonly updatedSince?: Date | string;
      /** The brands changed last before this time. */
      readonly updatedUntil?: Date | string;
      /** The fields of each object, in the order of the resource. Default: `brandID,name,createdAt,updatedAt`. */
      readonly fields?: readonly ('brandID' | 'name' | 'createdAt' | 'updatedAt')[];
      /** The page begins behind the object with this identifier, in the order of the list; not together with offset. */
      readonly after?: string;
      /** The order, by these fields, `-` before one for descending; ties are ordered by identifier, in the direction of the last field. Default: `brandID`. */
      readonly sort?: readonly ('brandID' | '-brandID' | 'name' | '-name')[];
    };
    readonly objectQuery: {
      /** The fields of each object, in the order of the resource. Default: `brandID,name,createdAt,updatedAt`. */
      readonly fields?: readonly ('brandID' | 'name' | 'createdAt' | 'updatedAt')[];
    };
    readonly facetQuery: never;
  };
  readonly variants: {
    readonly identifier: 'variantID';
    readonly object: Variant;
    readonly query: {
      /** Most objects to return; 0 answers with the count alone. */
      readonly limit?: number;
      /** How many matching objects to skip; past the end is an empty page. */
      readonly offset?: number;
      /** The variants with these identifiers. */
      readonly variantID?: readonly string[];
      /** The variants of these products. */
      readonly productID?: readonly string[];
      /** The variants of these names. */
      readonly name?: readonly string[];
      /** The variants that cost at least this, whatever the currency. */
      readonly priceMin?: number | string;
      /** The variants that cost at most this, whatever the currency. */
      readonly priceMax?: number | string;
      /** The variants with at least this stock. */
      readonly stockMin?: number;
      /** The variants changed at this time or later. */
      readonly updatedSince?: Date | string;
      /** The variants changed last before this time. */
      readonly updatedUntil?: Date | string;
      /** The fields of each object, in the order of the resource. Default: `variantID,productID,name,price,currency,stock,createdAt,updatedAt`. */
      readonly fields?: readonly (
        | 'variantID'
        | 'productID'
        | 'name'
        | 'price'
        | 'currency'
        | 'stock'
        | 'createdAt'
        | 'updatedAt'
        | 'product.productID'
        | 'product.refID'
        | 'product.type'
        | 'product.name'
        | 'product.description'
        | 'product.brandID'
        | 'product.categoryID'
        | 'product.price'
        | 'product.currency'
        | 'product.stock'
        | 'product.colours'
        | 'product.imageURL'
        | 'product.createdAt'
        | 'product.updatedAt'
      )[];
      /** The related objects of each object: one that it refers to, or null; or a list of those that refer to it, beside `<name>Count`, the number of all of them. `fields` names fields of them as `<name>.<field>`. */
      readonly include?: readonly 'product'[];
      /** The page begins behind the object with this identifier, in the order of the list; not together with offset. */
      readonly after?: string;
      /** The order, by these fields, `-` before one for descending; ties are ordered by identifier, in the direction of the last field. Default: `variantID`. */
      readonly sort?: readonly ('variantID' | '-variantID' | 'name' | '-name' | 'price' | '-price')[];
    };
    readonly objectQuery: {
      /** The fields of each object, in the order of the resource. Default: `variantID,productID,name,price,currency,stock,createdAt,updatedAt`. */
      readonly fields?: readonly (
        | 'variantID'
        | 'productID'
        | 'name'
        | 'price'
        | 'currency'
        | 'stock'
        | 'createdAt'
        | 'updatedAt'
        | 'product.productID'
        | 'product.refID'
        | 'product.type'
        | 'product.name'
        | 'product.description'
        | 'product.brandID'
        | 'product.categoryID'
        | 'product.price'
        | 'product.currency'
        | 'product.stock'
        | 'product.colours'
        | 'product.imageURL'
        | 'product.createdAt'
        | 'product.updatedAt'
      )[];
      /** The related objects of each object: one that it refers to, or null; or a list of those that refer to it, beside `<name>Count`, the number of all of them. `fields` names fields of them as `<name>.<field>`. */
      readonly include?: readonly 'product'[];
    };
    readonly facetQuery: {
      /** Most values of each field; 0 answers with the count alone. */
      readonly limit?: number;
      /** The fields to count, in the order of the resource. Numbers, times, trees and what tells whether there is a value are counted if they are named. Default: `name`. */
      readonly facets?: readonly ('name' | 'price')[];
      /** The values that begin so, or whose label does, whatever their case and accents. Requires `facets` to name one field. */
      readonly facetStarts?: string;
      /** The bounds of intervals, in ascending order, at most 50: the objects in each are counted. Requires `facets` to name one number or time. The lower bound belongs to an interval, the upper one does not. */
      readonly bounds?: readonly string[];
      /** The variants with these identifiers. */
      readonly variantID?: readonly string[];
      /** The variants of these products. */
      readonly productID?: readonly string[];
      /** The variants of these names. */
      readonly name?: readonly string[];
      /** The variants that cost at least this, whatever the currency. */
      readonly priceMin?: number | string;
      /** The variants that cost at most this, whatever the currency. */
      readonly priceMax?: number | string;
      /** The variants with at least this stock. */
      readonly stockMin?: number;
      /** The variants changed at this time or later. */
      readonly updatedSince?: Date | string;
      /** The variants changed last before this time. */
      readonly updatedUntil?: Date | string;
    };
  };
}

/** A client of the service. It has a property for each resource. */
export class Catalogue {
  readonly products: Resource<Resources['products']>;
  readonly categories: Omit<Resource<Resources['categories']>, 'facets'>;
  readonly brands: Omit<Resource<Resources['brands']>, 'facets'>;
  readonly variants: Resource<Resources['variants']>;
  readonly #transport: Transport;

  constructor(options: CatalogueOptions) {
    const transport = new Transport(options);
    this.#transport = transport;
    this.products = new Resource<Resources['products']>(transport, 'products', 'productID');
    this.categories = new Resource<Resources['categories']>(transport, 'categories', 'categoryID');
    this.brands = new Resource<Resources['brands']>(transport, 'brands', 'brandID');
    this.variants = new Resource<Resources['variants']>(transport, 'variants', 'variantID');
  }

  /** Copies of some resources, all of one moment. */
  mirror<const Fields extends MirrorFields<Resources> = object>(stores: MirrorStores<Resources, Fields>, options: MirrorOptions<Fields>): Mirror {
    return new Mirror(this.#transport, stores, options);
  }
}
