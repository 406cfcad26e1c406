import { identifierFacts, isArrayType } from '@catalogue/server/generator';
import { flaggedOf } from '../fields.js';
import { columnOf } from './entity.js';
import { listed, quoted } from './resource.js';

/** @typedef {import('./resource.js').Field} Field */
/** @typedef {import('./resource.js').Resource} Resource */

/**
 * A parameter of the list: its decorator with the meaning, and perhaps an argument after it, and its property.
 *
 * @typedef {{ decorator: string, meaning: string, argument?: string, property: string }} Parameter
 */

/** The query classes of a resource. @type {(resource: Resource) => string} */
export function dto(resource) {
  const { names, identifier, fields, times, included } = resource;
  const key = identifierFacts(resource.identifierType);
  /** @type {Parameter[]} */
  const parameters = [
    {
      decorator: key.several,
      meaning: `The ${names.words} with these identifiers.`,
      property: `${identifier}?: ${key.property()}[]`,
    },
    ...[...fields, ...times].flatMap((field) => parametersOf(resource, field)),
    ...treeOf(resource),
    ...searchOf(resource),
  ];
  const base = ['ListQueryDto', 'ObjectQueryDto', 'QueryOf'];
  const uses = [...new Set([...base, ...parameters.map(({ decorator }) => decorator)])].sort();
  const enums = parameters.filter(({ decorator }) => decorator.startsWith('Enum'));
  const own = new Set([names.entity, ...enums.map(({ argument }) => argument)]);
  const include = included.length === 0 ? '' : `, include: [${quoted(...included)}]`;
  return `import { ${uses.join(', ')} } from '@catalogue/server';
import { ${[...own].join(', ')} } from './${names.file}.entity.js';

@QueryOf(${names.entity}${include && `, {${include.slice(1)} }`})
export class Get${names.singular}Dto extends ObjectQueryDto {}

@QueryOf(${names.entity}, { sort: [${quoted(...resource.sorts)}]${include} })
export class List${names.plural}Dto extends ListQueryDto {
${parameters.map(declaration).join('\n')}}
`;
}

/** @type {(parameter: Parameter) => string} */
const declaration = ({ decorator, meaning, argument, property }) =>
  `  @${decorator}(${quoted(meaning)}${argument === undefined ? '' : `, ${argument}`})\n  ${property};\n`;

/** The parameters that filter by a field. @type {(resource: Resource, field: Field) => Parameter[]} */
function parametersOf(resource, field) {
  const { words } = resource.names;
  const { name, type, flags } = field;
  const { property: value, argument, ...column } = columnOf(resource, field);
  const types = {
    one: value,
    several: isArrayType(type) ? value : `${value}[]`,
    BooleanParam: 'boolean',
  };
  return flaggedOf(field).map(({ end, decorator, means }) => ({
    decorator: (decorator === 'BooleanParam' ? decorator : column[decorator]) ?? '',
    meaning: means({ words, name, type, nullable: flags.has('null') }),
    argument: decorator === 'BooleanParam' ? undefined : argument,
    property: `${name}${end}?: ${types[decorator]}`,
  }));
}

/** What the decorator of a filter takes whose name does not say what it reads. @type {(columns: readonly string[]) => string} */
const reads = (columns) => `{ reads: [${quoted(...columns)}] }`;

/** The parameter of the filter by a tree. @type {(resource: Resource) => Parameter[]} */
function treeOf({ names: { words }, identifier, tree }) {
  if (!tree) return [];
  const { several, property } = identifierFacts(tree.target.identifierType);
  const meaning =
    tree.column === identifier
      ? `These ${words} and all below them.`
      : `The ${words} whose ${tree.column} is one of these ${tree.of.replaceAll('_', ' ')} or below one of them.`;
  return [
    {
      decorator: several,
      meaning,
      argument: reads(tree.reads),
      property: `within?: ${property()}[]`,
    },
  ];
}

/** The parameter of the search for words. @type {(resource: Resource) => Parameter[]} */
function searchOf({ names, searched }) {
  if (searched.length === 0) return [];
  const meaning = `The ${names.words} with all these words in ${listed(searched)}, or with exactly this identifier.`;
  return [{ decorator: 'WordsParam', meaning, argument: reads(['words']), property: 'q?: string' }];
}
