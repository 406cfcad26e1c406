// Written by `npm run generate` from the OpenAPI document of the service. Do not edit it.
import { Resource } from './resource.js';
import type { Transport } from './transport.js';

export interface Product {
  /**
   * @description Identifies the product.
   * @example p-000006
   */
  readonly productID: string;
  /**
   * @description The merchant’s own reference.
   * @example TRV-73667-S-BUR
   */
  readonly refID: string | null;
  /**
   * @description What is sold: a thing, a file or a service.
   * @enum {string}
   */
  readonly type: 'PHYSICAL' | 'DIGITAL' | 'SERVICE';
  /**
   * @description What the product is called.
   * @example Cycles Tournevent Ville touring bike, S, burgundy
   */
  readonly name: string | null;
  /**
   * @description A text about the product.
   * @example Wide gears, hub dynamo and room for broad tyres. The first inspection is free. Cycles Tournevent has kept its town on two wheels since 1953.
   */
  readonly description: string | null;
  /**
   * @description The brand, by identifier.
   * @example cycles-tournevent
   */
  readonly brandID: string | null;
  /**
   * @description The category that the product is directly in, by identifier.
   * @example outdoor-bikes
   */
  readonly categoryID: string | null;
  /**
   * Format: decimal
   * @description What one costs, in units of the currency, with the decimals that it came with.
   * @example 1789.00
   */
  readonly price: string | null;
  /**
   * @description The currency of the price, ISO 4217.
   * @example EUR
   */
  readonly currency: string | null;
  /**
   * Format: int32
   * @description Pieces at hand; null where none are kept.
   * @example 1
   */
  readonly stock: number | null;
  /**
   * @description Its colours, as a shop groups them.
   * @example [
   *       "red"
   *     ]
   */
  readonly colours: readonly string[] | null;
  /**
   * @description Where there is a picture of the product.
   * @example https://images.example.com/cycles-tournevent/trv-73667-s-bur.jpg
   */
  readonly imageURL: string | null;
  /**
   * Format: date-time
   * @description When the product was first stored.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly createdAt: string;
  /**
   * Format: date-time
   * @description When the product was changed last.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly updatedAt: string;
  /** @description The object that `brandID` refers to; null if there is none. */
  readonly brand?: Brand | null;
  /** @description The object that `categoryID` refers to; null if there is none. */
  readonly category?: Category | null;
  /** @description Objects that refer to this one, at most 20. */
  readonly variants?: readonly Variant[];
  /** @description The number of all `variants`. */
  readonly variantsCount?: string;
}
export interface ProductListQuery {
  /** @description Most objects to return; 0 answers with the count alone. */
  readonly limit?: number;
  /** @description How many matching objects to skip; past the end is an empty page. */
  readonly offset?: number;
  /** @description The products with these identifiers. */
  readonly productID?: readonly string[];
  /** @description The products with these references. */
  readonly refID?: readonly string[];
  /** @description The products of these types. */
  readonly type?: readonly ('PHYSICAL' | 'DIGITAL' | 'SERVICE')[];
  /** @description The products of all types but these. */
  readonly typeNot?: readonly ('PHYSICAL' | 'DIGITAL' | 'SERVICE')[];
  /** @description The products of these brands. */
  readonly brandID?: readonly string[];
  /** @description The products of all brands but these, and those without a brand. */
  readonly brandIDNot?: readonly string[];
  /** @description The products with a brand, or those without one. */
  readonly brandIDExists?: boolean;
  /** @description The products in these categories themselves, not in those below. */
  readonly categoryID?: readonly string[];
  /** @description The products in a category, or those in none. */
  readonly categoryIDExists?: boolean;
  /** @description The products in these categories and in all categories below them. */
  readonly within?: readonly string[];
  /** @description The products with all these words in name and description, or with exactly this identifier or reference. A word that ends in `*` is the beginning of one, 2 characters or more. At most 20 different words in 500 characters. With it, `sort` may begin with `relevance`. */
  readonly q?: string;
  /** @description The products whose currency is one of these. */
  readonly currency?: readonly string[];
  /** @description The products in one of these colours. */
  readonly colours?: readonly string[];
  /** @description The products in all of these colours. */
  readonly coloursAll?: readonly string[];
  /** @description The products with a variant of one of these names. */
  readonly variant?: readonly string[];
  /** @description The products that cost at least this, whatever the currency. */
  readonly priceMin?: number | string;
  /** @description The products that cost at most this, whatever the currency. */
  readonly priceMax?: number | string;
  /** @description The products with a price, or those without one. */
  readonly priceExists?: boolean;
  /** @description The products with a stock of one or more, or with none; those that keep no stock are neither. */
  readonly inStock?: boolean;
  /** @description The products with at least this stock. */
  readonly stockMin?: number;
  /** @description The products first stored at this time or later. */
  readonly createdSince?: Date | string;
  /** @description The products first stored before this time. */
  readonly createdUntil?: Date | string;
  /** @description The products changed at this time or later. */
  readonly updatedSince?: Date | string;
  /** @description The products changed last before this time. */
  readonly updatedUntil?: Date | string;
  /** @description The fields of each object, in the order of the resource. Default: `productID,refID,type,name,description,brandID,categoryID,price,currency,stock,colours,imageURL,createdAt,updatedAt`. */
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
  /** @description The related objects of each object: one that it refers to, or null; or a list of those that refer to it, beside `<name>Count`, the number of all of them. `fields` names fields of them as `<name>.<field>`. */
  readonly include?: readonly ('brand' | 'category' | 'variants')[];
  /** @description The page begins behind the object with this identifier, in the order of the list; not together with offset. */
  readonly after?: string;
  /** @description The order, by these fields, `-` before one for descending; ties are ordered by identifier, in the direction of the last field. Default: `productID`. */
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
}
export interface ProductQuery {
  /** @description The fields of each object, in the order of the resource. Default: `productID,refID,type,name,description,brandID,categoryID,price,currency,stock,colours,imageURL,createdAt,updatedAt`. */
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
  /** @description The related objects of each object: one that it refers to, or null; or a list of those that refer to it, beside `<name>Count`, the number of all of them. `fields` names fields of them as `<name>.<field>`. */
  readonly include?: readonly ('brand' | 'category' | 'variants')[];
}
export interface ProductDeletion {
  /**
   * @description Identified the object that is gone.
   * @example p-000006
   */
  readonly productID: string;
  /**
   * Format: date-time
   * @description When it was deleted, or its identifier changed.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly deletedAt: string;
}
export interface ProductDeletionListQuery {
  /** @description Most objects to return; 0 answers with the count alone. */
  readonly limit?: number;
  /** @description How many matching objects to skip; past the end is an empty page. */
  readonly offset?: number;
  /** @description Those deleted at this time or later, at most 30 days ago: the X-Updated-Until of an earlier answer. */
  readonly deletedSince: Date | string;
  /** @description The fields of each object, in the order of the resource. Default: `productID,deletedAt`. */
  readonly fields?: readonly ('productID' | 'deletedAt')[];
  /** @description The page begins behind the object with this identifier, in the order of the list; not together with offset. */
  readonly after?: string;
  /** @description The order, by these fields, `-` before one for descending; ties are ordered by identifier, in the direction of the last field. Default: `productID`. */
  readonly sort?: readonly ('productID' | '-productID' | 'deletedAt' | '-deletedAt')[];
}
export interface ProductFacetQuery {
  /** @description Most values of each field; 0 answers with the count alone. */
  readonly limit?: number;
  /** @description The fields to count, in the order of the resource. Numbers, times and trees are counted if they are named. Default: `type,brandID,categoryID,currency,colours,inStock`. */
  readonly facets?: readonly (
    | 'type'
    | 'brandID'
    | 'categoryID'
    | 'price'
    | 'currency'
    | 'colours'
    | 'createdAt'
    | 'updatedAt'
    | 'inStock'
    | 'within'
  )[];
  /** @description The values that begin so, or whose label does, whatever their case and accents. Requires `facets` to name one field. */
  readonly facetStarts?: string;
  /** @description The bounds of intervals, in ascending order, at most 50: the objects in each are counted. Requires `facets` to name one number or time. The lower bound belongs to an interval, the upper one does not. */
  readonly bounds?: readonly string[];
  /** @description The products with these identifiers. */
  readonly productID?: readonly string[];
  /** @description The products with these references. */
  readonly refID?: readonly string[];
  /** @description The products of these types. */
  readonly type?: readonly ('PHYSICAL' | 'DIGITAL' | 'SERVICE')[];
  /** @description The products of all types but these. */
  readonly typeNot?: readonly ('PHYSICAL' | 'DIGITAL' | 'SERVICE')[];
  /** @description The products of these brands. */
  readonly brandID?: readonly string[];
  /** @description The products of all brands but these, and those without a brand. */
  readonly brandIDNot?: readonly string[];
  /** @description The products with a brand, or those without one. */
  readonly brandIDExists?: boolean;
  /** @description The products in these categories themselves, not in those below. */
  readonly categoryID?: readonly string[];
  /** @description The products in a category, or those in none. */
  readonly categoryIDExists?: boolean;
  /** @description The products in these categories and in all categories below them. */
  readonly within?: readonly string[];
  /** @description The products with all these words in name and description, or with exactly this identifier or reference. A word that ends in `*` is the beginning of one, 2 characters or more. At most 20 different words in 500 characters. With it, `sort` may begin with `relevance`. */
  readonly q?: string;
  /** @description The products whose currency is one of these. */
  readonly currency?: readonly string[];
  /** @description The products in one of these colours. */
  readonly colours?: readonly string[];
  /** @description The products in all of these colours. */
  readonly coloursAll?: readonly string[];
  /** @description The products with a variant of one of these names. */
  readonly variant?: readonly string[];
  /** @description The products that cost at least this, whatever the currency. */
  readonly priceMin?: number | string;
  /** @description The products that cost at most this, whatever the currency. */
  readonly priceMax?: number | string;
  /** @description The products with a price, or those without one. */
  readonly priceExists?: boolean;
  /** @description The products with a stock of one or more, or with none; those that keep no stock are neither. */
  readonly inStock?: boolean;
  /** @description The products with at least this stock. */
  readonly stockMin?: number;
  /** @description The products first stored at this time or later. */
  readonly createdSince?: Date | string;
  /** @description The products first stored before this time. */
  readonly createdUntil?: Date | string;
  /** @description The products changed at this time or later. */
  readonly updatedSince?: Date | string;
  /** @description The products changed last before this time. */
  readonly updatedUntil?: Date | string;
}
export interface Category {
  /**
   * @description Identifies the category.
   * @example kitchen-cooking
   */
  readonly categoryID: string;
  /**
   * @description The category directly above, by identifier; null at the top.
   * @example kitchen
   */
  readonly parentID: string | null;
  /**
   * @description What the category is called.
   * @example Cooking & baking
   */
  readonly name: string;
  /**
   * Format: date-time
   * @description When the category was first stored.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly createdAt: string;
  /**
   * Format: date-time
   * @description When the category was changed last.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly updatedAt: string;
  /** @description The object that `parentID` refers to; null if there is none. */
  readonly parent?: Category | null;
}
export interface CategoryListQuery {
  /** @description Most objects to return; 0 answers with the count alone. */
  readonly limit?: number;
  /** @description How many matching objects to skip; past the end is an empty page. */
  readonly offset?: number;
  /** @description The categories with these identifiers. */
  readonly categoryID?: readonly string[];
  /** @description These categories and all below them. */
  readonly within?: readonly string[];
  /** @description The categories directly below this one. */
  readonly parentID?: string;
  /** @description The categories below another one, or those at the top. */
  readonly parentIDExists?: boolean;
  /** @description The categories of exactly this name. */
  readonly name?: string;
  /** @description The categories changed at this time or later. */
  readonly updatedSince?: Date | string;
  /** @description The categories changed last before this time. */
  readonly updatedUntil?: Date | string;
  /** @description The fields of each object, in the order of the resource. Default: `categoryID,parentID,name,createdAt,updatedAt`. */
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
  /** @description The related objects of each object: one that it refers to, or null; or a list of those that refer to it, beside `<name>Count`, the number of all of them. `fields` names fields of them as `<name>.<field>`. */
  readonly include?: readonly 'parent'[];
  /** @description The page begins behind the object with this identifier, in the order of the list; not together with offset. */
  readonly after?: string;
  /** @description The order, by these fields, `-` before one for descending; ties are ordered by identifier, in the direction of the last field. Default: `categoryID`. */
  readonly sort?: readonly ('categoryID' | '-categoryID' | 'name' | '-name')[];
}
export interface CategoryQuery {
  /** @description The fields of each object, in the order of the resource. Default: `categoryID,parentID,name,createdAt,updatedAt`. */
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
  /** @description The related objects of each object: one that it refers to, or null; or a list of those that refer to it, beside `<name>Count`, the number of all of them. `fields` names fields of them as `<name>.<field>`. */
  readonly include?: readonly 'parent'[];
}
export interface CategoryDeletion {
  /**
   * @description Identified the object that is gone.
   * @example kitchen-cooking
   */
  readonly categoryID: string;
  /**
   * Format: date-time
   * @description When it was deleted, or its identifier changed.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly deletedAt: string;
}
export interface CategoryDeletionListQuery {
  /** @description Most objects to return; 0 answers with the count alone. */
  readonly limit?: number;
  /** @description How many matching objects to skip; past the end is an empty page. */
  readonly offset?: number;
  /** @description Those deleted at this time or later, at most 30 days ago: the X-Updated-Until of an earlier answer. */
  readonly deletedSince: Date | string;
  /** @description The fields of each object, in the order of the resource. Default: `categoryID,deletedAt`. */
  readonly fields?: readonly ('categoryID' | 'deletedAt')[];
  /** @description The page begins behind the object with this identifier, in the order of the list; not together with offset. */
  readonly after?: string;
  /** @description The order, by these fields, `-` before one for descending; ties are ordered by identifier, in the direction of the last field. Default: `categoryID`. */
  readonly sort?: readonly ('categoryID' | '-categoryID' | 'deletedAt' | '-deletedAt')[];
}
export interface Brand {
  /**
   * @description Identifies the brand.
   * @example amagumo
   */
  readonly brandID: string;
  /**
   * @description What the brand is called.
   * @example Amagumo
   */
  readonly name: string;
  /**
   * Format: date-time
   * @description When the brand was first stored.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly createdAt: string;
  /**
   * Format: date-time
   * @description When the brand was changed last.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly updatedAt: string;
}
export interface BrandListQuery {
  /** @description Most objects to return; 0 answers with the count alone. */
  readonly limit?: number;
  /** @description How many matching objects to skip; past the end is an empty page. */
  readonly offset?: number;
  /** @description The brands with these identifiers. */
  readonly brandID?: readonly string[];
  /** @description The brands of exactly this name. */
  readonly name?: string;
  /** @description The brands changed at this time or later. */
  readonly updatedSince?: Date | string;
  /** @description The brands changed last before this time. */
  readonly updatedUntil?: Date | string;
  /** @description The fields of each object, in the order of the resource. Default: `brandID,name,createdAt,updatedAt`. */
  readonly fields?: readonly ('brandID' | 'name' | 'createdAt' | 'updatedAt')[];
  /** @description The page begins behind the object with this identifier, in the order of the list; not together with offset. */
  readonly after?: string;
  /** @description The order, by these fields, `-` before one for descending; ties are ordered by identifier, in the direction of the last field. Default: `brandID`. */
  readonly sort?: readonly ('brandID' | '-brandID' | 'name' | '-name')[];
}
export interface BrandQuery {
  /** @description The fields of each object, in the order of the resource. Default: `brandID,name,createdAt,updatedAt`. */
  readonly fields?: readonly ('brandID' | 'name' | 'createdAt' | 'updatedAt')[];
}
export interface BrandDeletion {
  /**
   * @description Identified the object that is gone.
   * @example amagumo
   */
  readonly brandID: string;
  /**
   * Format: date-time
   * @description When it was deleted, or its identifier changed.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly deletedAt: string;
}
export interface BrandDeletionListQuery {
  /** @description Most objects to return; 0 answers with the count alone. */
  readonly limit?: number;
  /** @description How many matching objects to skip; past the end is an empty page. */
  readonly offset?: number;
  /** @description Those deleted at this time or later, at most 30 days ago: the X-Updated-Until of an earlier answer. */
  readonly deletedSince: Date | string;
  /** @description The fields of each object, in the order of the resource. Default: `brandID,deletedAt`. */
  readonly fields?: readonly ('brandID' | 'deletedAt')[];
  /** @description The page begins behind the object with this identifier, in the order of the list; not together with offset. */
  readonly after?: string;
  /** @description The order, by these fields, `-` before one for descending; ties are ordered by identifier, in the direction of the last field. Default: `brandID`. */
  readonly sort?: readonly ('brandID' | '-brandID' | 'deletedAt' | '-deletedAt')[];
}
export interface Variant {
  /**
   * @description Identifies the variant.
   * @example p-000418-2
   */
  readonly variantID: string;
  /**
   * @description The product that it is a variant of, by identifier.
   * @example p-000418
   */
  readonly productID: string;
  /**
   * @description What sets the variant apart, such as a size or a grind.
   * @example Filter
   */
  readonly name: string;
  /**
   * Format: decimal
   * @description What one costs, in units of the currency; null as for the product.
   * @example 12.95
   */
  readonly price: string | null;
  /**
   * @description The currency of the price, ISO 4217.
   * @example EUR
   */
  readonly currency: string | null;
  /**
   * Format: int32
   * @description Pieces at hand; null where none are kept.
   * @example 53
   */
  readonly stock: number | null;
  /**
   * Format: date-time
   * @description When the variant was first stored.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly createdAt: string;
  /**
   * Format: date-time
   * @description When the variant was changed last.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly updatedAt: string;
  /** @description The object that `productID` refers to; null if there is none. */
  readonly product?: Product | null;
}
export interface VariantListQuery {
  /** @description Most objects to return; 0 answers with the count alone. */
  readonly limit?: number;
  /** @description How many matching objects to skip; past the end is an empty page. */
  readonly offset?: number;
  /** @description The variants with these identifiers. */
  readonly variantID?: readonly string[];
  /** @description The variants of these products. */
  readonly productID?: readonly string[];
  /** @description The variants of these names. */
  readonly name?: readonly string[];
  /** @description The variants that cost at least this, whatever the currency. */
  readonly priceMin?: number | string;
  /** @description The variants that cost at most this, whatever the currency. */
  readonly priceMax?: number | string;
  /** @description The variants with at least this stock. */
  readonly stockMin?: number;
  /** @description The variants changed at this time or later. */
  readonly updatedSince?: Date | string;
  /** @description The variants changed last before this time. */
  readonly updatedUntil?: Date | string;
  /** @description The fields of each object, in the order of the resource. Default: `variantID,productID,name,price,currency,stock,createdAt,updatedAt`. */
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
  /** @description The related objects of each object: one that it refers to, or null; or a list of those that refer to it, beside `<name>Count`, the number of all of them. `fields` names fields of them as `<name>.<field>`. */
  readonly include?: readonly 'product'[];
  /** @description The page begins behind the object with this identifier, in the order of the list; not together with offset. */
  readonly after?: string;
  /** @description The order, by these fields, `-` before one for descending; ties are ordered by identifier, in the direction of the last field. Default: `variantID`. */
  readonly sort?: readonly ('variantID' | '-variantID' | 'name' | '-name' | 'price' | '-price')[];
}
export interface VariantQuery {
  /** @description The fields of each object, in the order of the resource. Default: `variantID,productID,name,price,currency,stock,createdAt,updatedAt`. */
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
  /** @description The related objects of each object: one that it refers to, or null; or a list of those that refer to it, beside `<name>Count`, the number of all of them. `fields` names fields of them as `<name>.<field>`. */
  readonly include?: readonly 'product'[];
}
export interface VariantDeletion {
  /**
   * @description Identified the object that is gone.
   * @example p-000418-2
   */
  readonly variantID: string;
  /**
   * Format: date-time
   * @description When it was deleted, or its identifier changed.
   * @example 2026-11-21T12:00:00.000Z
   */
  readonly deletedAt: string;
}
export interface VariantDeletionListQuery {
  /** @description Most objects to return; 0 answers with the count alone. */
  readonly limit?: number;
  /** @description How many matching objects to skip; past the end is an empty page. */
  readonly offset?: number;
  /** @description Those deleted at this time or later, at most 30 days ago: the X-Updated-Until of an earlier answer. */
  readonly deletedSince: Date | string;
  /** @description The fields of each object, in the order of the resource. Default: `variantID,deletedAt`. */
  readonly fields?: readonly ('variantID' | 'deletedAt')[];
  /** @description The page begins behind the object with this identifier, in the order of the list; not together with offset. */
  readonly after?: string;
  /** @description The order, by these fields, `-` before one for descending; ties are ordered by identifier, in the direction of the last field. Default: `variantID`. */
  readonly sort?: readonly ('variantID' | '-variantID' | 'deletedAt' | '-deletedAt')[];
}
export interface VariantFacetQuery {
  /** @description Most values of each field; 0 answers with the count alone. */
  readonly limit?: number;
  /** @description The fields to count, in the order of the resource. Numbers, times and trees are counted if they are named. Default: `name`. */
  readonly facets?: readonly ('name' | 'price')[];
  /** @description The values that begin so, or whose label does, whatever their case and accents. Requires `facets` to name one field. */
  readonly facetStarts?: string;
  /** @description The bounds of intervals, in ascending order, at most 50: the objects in each are counted. Requires `facets` to name one number or time. The lower bound belongs to an interval, the upper one does not. */
  readonly bounds?: readonly string[];
  /** @description The variants with these identifiers. */
  readonly variantID?: readonly string[];
  /** @description The variants of these products. */
  readonly productID?: readonly string[];
  /** @description The variants of these names. */
  readonly name?: readonly string[];
  /** @description The variants that cost at least this, whatever the currency. */
  readonly priceMin?: number | string;
  /** @description The variants that cost at most this, whatever the currency. */
  readonly priceMax?: number | string;
  /** @description The variants with at least this stock. */
  readonly stockMin?: number;
  /** @description The variants changed at this time or later. */
  readonly updatedSince?: Date | string;
  /** @description The variants changed last before this time. */
  readonly updatedUntil?: Date | string;
}

/** The resources of the service. */
export class Resources {
  readonly products: Resource<{
    identifier: 'productID';
    object: Product;
    query: ProductListQuery;
    objectQuery: ProductQuery;
    deletion: ProductDeletion;
    deletionQuery: ProductDeletionListQuery;
    facetQuery: ProductFacetQuery;
  }>;
  readonly categories: Omit<
    Resource<{
      identifier: 'categoryID';
      object: Category;
      query: CategoryListQuery;
      objectQuery: CategoryQuery;
      deletion: CategoryDeletion;
      deletionQuery: CategoryDeletionListQuery;
      facetQuery: never;
    }>,
    'facets'
  >;
  readonly brands: Omit<
    Resource<{
      identifier: 'brandID';
      object: Brand;
      query: BrandListQuery;
      objectQuery: BrandQuery;
      deletion: BrandDeletion;
      deletionQuery: BrandDeletionListQuery;
      facetQuery: never;
    }>,
    'facets'
  >;
  readonly variants: Resource<{
    identifier: 'variantID';
    object: Variant;
    query: VariantListQuery;
    objectQuery: VariantQuery;
    deletion: VariantDeletion;
    deletionQuery: VariantDeletionListQuery;
    facetQuery: VariantFacetQuery;
  }>;

  constructor(transport: Transport) {
    this.products = new Resource(transport, 'products', 'productID');
    this.categories = new Resource(transport, 'categories', 'categoryID');
    this.brands = new Resource(transport, 'brands', 'brandID');
    this.variants = new Resource(transport, 'variants', 'variantID');
  }
}
