/**
 * An object of a list, by its `fields` and `include`. Where these are not known until the program runs, all
 * properties are optional.
 */
export type Shown<
  T,
  Fields extends readonly string[],
  Include extends readonly string[],
> = Fields extends readonly []
  ? T & Included<T, Include[number]>
  : number extends Fields['length']
    ? Partial<T>
    : Pick<T, Fields[number] & keyof T> &
        Narrowed<T, Fields[number]> &
        Included<T, Exclude<Include[number], keyof Narrowed<T, Fields[number]>>>;

/** The related objects that a list includes. */
type Included<T, Names> = Required<Pick<T, Names & keyof T>>;

/** The related objects of which `fields` names fields, such as `brand.name`. */
type Narrowed<T, Names> = {
  [
    Name in Names as Name extends `${infer Related}.${string}` ? Related : never
  ]: Name extends `${infer Related}.${string}`
    ? Chosen<T[Related & keyof T], Related, Names> | null
    : never;
};

type Chosen<T, Related extends string, Names> = Pick<
  NonNullable<T>,
  (Names extends `${Related}.${infer Field}` ? Field : never) & keyof NonNullable<T>
>;
