/**
 * An object of a list, by its `fields` and `include`. Of an array whose values are not known at compile
 * time, each value may be missing: with such `fields` all properties are optional, those of the related
 * objects that they name included; with such an `include` the related objects are.
 */
export type Selected<
  T,
  Fields extends readonly string[],
  Include extends readonly string[],
> = Fields extends readonly []
  ? Include extends readonly []
    ? T
    : Plain<T & RelatedIncluded<T, Include>>
  : number extends Fields['length']
    ? Plain<AnySelected<T, Fields[number]>>
    : Plain<
        Pick<T, Fields[number] & keyof T> &
          RelatedSelected<T, Fields[number]> &
          RelatedIncluded<T, Include, keyof RelatedSelected<T, Fields[number]>>
      >;

/** A type as editors show it: as a plain object, and not how it was computed. */
// eslint-disable-next-line @typescript-eslint/no-redundant-type-constituents -- else they show this name
type Plain<T> = { [Name in keyof T]: T[Name] } & unknown;

/** The related objects that a list includes, but those that are typed by `fields`. */
type RelatedIncluded<
  T,
  Include extends readonly string[],
  Typed = never,
> = number extends Include['length']
  ? Partial<Pick<T, Exclude<WithCount<T, Include[number]>, Typed>>>
  : Required<Pick<T, Exclude<WithCount<T, Include[number]>, Typed>>>;

/** The names of related objects, with that of the number of several ones. */
type WithCount<T, Name> = Name extends keyof T
  ? | Name
    | (NonNullable<T[Name]> extends readonly unknown[] ? keyof T & `${Name & string}Count` : never)
  : never;

/** The related objects of which `fields` names fields, such as `author.name`, and the numbers of several ones. */
type RelatedSelected<T, Names> = {
  readonly [Name in Names as RelatedOf<Name>]: FieldsOfRelated<
    NonNullable<T[RelatedOf<Name> & keyof T]>,
    RelatedOf<Name>,
    Names
  >;
} & Required<Pick<T, Exclude<WithCount<T, RelatedOf<Names>>, RelatedOf<Names>>>>;

type RelatedOf<Name> = Name extends `${infer Related}.${string}` ? Related : never;

type FieldsOfRelated<T, Related extends string, Names> = T extends readonly (infer Each)[]
  ? readonly PickNamed<Each, Related, Names>[]
  : PickNamed<T, Related, Names> | null;

type PickNamed<T, Related extends string, Names> = Plain<
  Pick<T, (Names extends `${Related}.${infer Field}` ? Field : never) & keyof T>
>;

/** An object with any of these fields. */
type AnySelected<T, Names> = {
  readonly [Name in keyof T]?: [Extract<Names, `${Name & string}.${string}`>] extends [never]
    ? T[Name]
    : NonNullable<T[Name]> extends readonly (infer Each)[]
      ? readonly Partial<Each>[]
      : Partial<NonNullable<T[Name]>> | null;
};
