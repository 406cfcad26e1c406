import { Column, type EntityMetadata, getMetadataArgsStorage } from 'typeorm';
import { nameColumn } from './column-types.js';

const NATURAL_ORDERS = Symbol('natural orders');

/**
 * Declares the column by which lists are sorted that are to be sorted by a text, as people expect it: without regard to
 * case and accents, and with numbers in it compared as numbers. PostgreSQL keeps it by `natural_order` of `order.sql`. It is
 * hidden: `sorted` of `@Resource`, `sort` of `@QueryOf` and clients name the text.
 *
 * @param of the property of the text, which is declared above
 * @throws TypeError if no such column is declared above
 */
export function NaturalOrder<Text extends string>(
  of: Text,
): (prototype: Readonly<Record<Text, string | null>>, property: string) => void {
  return (prototype, property) => {
    const target = prototype.constructor;
    const source = getMetadataArgsStorage()
      .filterColumns(target)
      .find(({ propertyName }) => propertyName === of);
    if (!source)
      throw new TypeError(`${target.name}.${property} orders ${of}: declare that column above it`);
    const { name = of, nullable } = source.options;
    Column({
      ...nameColumn,
      nullable,
      select: false,
      insert: false,
      update: false,
      generatedType: 'STORED',
      asExpression: `natural_order("${name}")`,
    })(prototype, property);
    const orders = new Map([...naturalOrders(target), [of, property]]);
    Reflect.defineMetadata(NATURAL_ORDERS, orders, target);
  };
}

/** The columns with the natural order of others, by these. */
export function naturalOrders(target: EntityMetadata['target']): ReadonlyMap<string, string> {
  const orders = Reflect.getMetadata(NATURAL_ORDERS, target) as
    ReadonlyMap<string, string> | undefined;
  return orders ?? new Map<string, string>();
}

/** The property of the column by whose values a list is sorted that is to be sorted by a property. */
export function orderedBy(target: EntityMetadata['target'], property: string): string {
  return naturalOrders(target).get(property) ?? property;
}
