import { identifierFacts, nameColumn } from '../../../src/resource/column-types.js';
import { columnOf, enumOf } from './entity.js';
import {
  columnTypeOf,
  includedReferences,
  isArray,
  listed,
  quoted,
  searchedFields,
  sorts,
  treeFilter,
} from './resource.js';

/**
 * @typedef {import('../fields.js').Field} Field
 * @typedef {import('./resource.js').Resource} Resource
 */

/**
 * A parameter of the list.
 *
 * @typedef {object} Parameter
 * @property {keyof typeof import('../../../src/list/index.js')} decorator
 * @property {string} meaning
 * @property {string} [argument] of the decorator, after the meaning
 * @property {string} property
 */

/**
 * The flags of filters that take values of an enumeration.
 *
 * @type {readonly import('../fields.js').Flag[]}
 */
const ENUM_FILTERS = ['exact', 'several', 'not'];

/**
 * What a value of a type of times is called.
 *
 * @type {ReadonlyMap<import('../fields.js').Type, string>}
 */
const MOMENTS = new Map([
  ['date-time', 'time'],
  ['date', 'day'],
]);

/**
 * The query classes of a resource.
 *
 * @param {Resource} resource
 */
export function dto(resource) {
  const { names, identifier, fields } = resource;
  const key = identifierFacts(resource.identifierType);
  /** @type {Parameter[]} */
  const parameters = [
    {
      decorator: key.several,
      meaning: `The ${names.words} with these identifiers.`,
      property: `${identifier}?: ${key.property()}[]`,
    },
    ...[...fields, ...resource.times].flatMap((field) => parametersOf(resource, field)),
    ...treeOf(resource),
    ...searchOf(resource),
  ];
  const base = ['ListQueryDto', 'ObjectQueryDto', 'QueryOf'];
  const uses = [...new Set([...base, ...parameters.map(({ decorator }) => decorator)])].sort();
  const enums = fields
    .filter(({ type, flags }) => type === 'enum' && ENUM_FILTERS.some((flag) => flags.has(flag)))
    .map(({ name }) => enumOf(names, name));
  const included = includedReferences(resource).map(({ name }) => quoted(name));
  const [ofObject, ofList] =
    included.length === 0
      ? ['', '']
      : [`, { include: [${included.join(', ')}] }`, `, include: [${included.join(', ')}]`];
  return `import { ${uses.join(', ')} } from '../list/index.js';
import { ${[names.entity, ...enums].join(', ')} } from './${names.file}.entity.js';

@QueryOf(${names.entity}${ofObject})
export class Get${names.singular}Dto extends ObjectQueryDto {}

@QueryOf(${names.entity}, { sort: [${sorts(resource).map(quoted).join(', ')}]${ofList} })
export class List${names.plural}Dto extends ListQueryDto {
${parameters.map(declaration).join('\n')}}
`;
}

/** @param {Parameter} parameter */
function declaration({ decorator, meaning, argument, property }) {
  const more = argument === undefined ? '' : `, ${argument}`;
  return `  @${decorator}(${quoted(meaning)}${more})\n  ${property};\n`;
}

/**
 * The parameters that filter by a field.
 *
 * @param {Resource} resource
 * @param {Field} field
 * @returns {Parameter[]}
 */
function parametersOf(resource, field) {
  const { names } = resource;
  const { name, type, flags } = field;
  const { one, several, argument, property } = columnTypeOf(resource, field);
  const column = columnOf(resource, field);
  const value = property(column);
  const moment = MOMENTS.get(type);
  const exactly = type === 'boolean' ? 'true, or those where it is false' : 'this';
  const noneOfThese = flags.has('null') ? 'none of these, or that have none' : 'none of these';
  return [
    ...(flags.has('several') ? [membership()] : []),
    ...(flags.has('exact') ? [filter(one, name, exactly, value)] : []),
    ...(flags.has('not') ? [filter(several, `${name}Not`, noneOfThese, `${value}[]`)] : []),
    ...(flags.has('exists') ? [existence()] : []),
    ...(flags.has('interval')
      ? [
          filter(one, `${name}Min`, moment ? `this ${moment} or later` : 'at least this', value),
          filter(one, `${name}Max`, moment ? `this ${moment} or earlier` : 'at most this', value),
        ]
      : []),
  ];

  /** @returns {Parameter} */
  function membership() {
    if (!isArray(field)) return filter(several, name, 'one of these', `${value}[]`);
    const items = filter(several, name, '', value);
    return { ...items, meaning: `The ${names.words} with any of these ${name}.` };
  }

  /** @returns {Parameter} */
  function existence() {
    return {
      decorator: 'BooleanParam',
      meaning: `The ${names.words} with a value of ${name}, or those without one.`,
      property: `${name}Exists?: boolean`,
    };
  }

  /**
   * @param {Parameter['decorator'] | undefined} decorator
   * @param {string} parameter
   * @param {string} values
   * @param {string} valueType
   * @returns {Parameter}
   */
  function filter(decorator, parameter, values, valueType) {
    if (!decorator) throw new TypeError(`The type ${type} has a flag without its decorator`);
    return {
      decorator,
      meaning: `The ${names.words} whose ${name} is ${values}.`,
      // A filter takes no text that is longer than a name.
      argument: argument({ ...column, length: Math.min(column.length, nameColumn.length) }),
      property: `${parameter}?: ${valueType}`,
    };
  }
}

/**
 * The parameter of the filter by a tree.
 *
 * @param {Resource} resource
 * @returns {Parameter[]}
 */
function treeOf(resource) {
  const tree = treeFilter(resource);
  if (!tree) return [];
  const { words } = resource.names;
  const { several, property } = identifierFacts(tree.target.identifierType);
  return [
    {
      decorator: several,
      meaning:
        tree.column === resource.identifier
          ? `These ${words} and all below them.`
          : `The ${words} whose ${tree.column} is one of these ${tree.of.replaceAll('_', ' ')} or below one of them.`,
      property: `within?: ${property()}[]`,
    },
  ];
}

/**
 * The parameter of the search for words.
 *
 * @param {Resource} resource
 * @returns {Parameter[]}
 */
function searchOf(resource) {
  const searched = searchedFields(resource);
  if (searched.length === 0) return [];
  return [
    {
      decorator: 'WordsParam',
      meaning: `The ${resource.names.words} with all these words in ${listed(searched)}, or with exactly this identifier.`,
      property: 'q?: string',
    },
  ];
}
