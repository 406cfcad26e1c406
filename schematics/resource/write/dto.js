import { identifierFacts } from '../../../src/resource/column-types.js';
import { columnOf } from './entity.js';
import { isArray, listed, quoted } from './resource.js';

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
  return `import { ${uses.join(', ')} } from '../list/index.js';
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
  const { one, several, argument, property: value } = columnOf(resource, field);
  const whose = `The ${words} whose ${name} is`;
  const [later, earlier] = BOUNDS[type] ?? ['at least this', 'at most this'];
  const exactly = type === 'boolean' ? 'true, or those where it is false' : 'this';
  const none = `none of these${flags.has('null') ? ', or that have none' : ''}`;
  const any = isArray(field) ? `The ${words} with any of these ${name}.` : `${whose} one of these.`;
  const values = isArray(field) ? value : `${value}[]`;
  const existing = `The ${words} with a value of ${name}, or those without one.`;
  /** @type {[flag: import('../fields.js').Flag, suffix: string, string, decorator: string | undefined, type: string][]} */
  const filters = [
    ['several', '', any, several, values],
    ['exact', '', `${whose} ${exactly}.`, one, value],
    ['not', 'Not', `${whose} ${none}.`, several, values],
    ['exists', 'Exists', existing, 'BooleanParam', 'boolean'],
    ['interval', 'Min', `${whose} ${later}.`, one, value],
    ['interval', 'Max', `${whose} ${earlier}.`, one, value],
  ];
  return filters
    .filter(([flag]) => flags.has(flag))
    .map(([flag, suffix, meaning, decorator = '', typeOf]) => ({
      decorator,
      meaning,
      argument: flag === 'exists' ? undefined : argument,
      property: `${name}${suffix}?: ${typeOf}`,
    }));
}

/** What a bound of times means. @type {Readonly<Partial<Record<import('../fields.js').Type, [string, string]>>>} */
const BOUNDS = {
  date: ['this day or later', 'this day or earlier'],
  'date-time': ['this time or later', 'this time or earlier'],
};

/** The parameter of the filter by a tree. @type {(resource: Resource) => Parameter[]} */
function treeOf({ names: { words }, identifier, tree }) {
  if (!tree) return [];
  const { several, property } = identifierFacts(tree.target.identifierType);
  const meaning =
    tree.column === identifier
      ? `These ${words} and all below them.`
      : `The ${words} whose ${tree.column} is one of these ${tree.of.replaceAll('_', ' ')} or below one of them.`;
  return [{ decorator: several, meaning, property: `within?: ${property()}[]` }];
}

/** The parameter of the search for words. @type {(resource: Resource) => Parameter[]} */
function searchOf({ names, searched }) {
  if (searched.length === 0) return [];
  const meaning = `The ${names.words} with all these words in ${listed(searched)}, or with exactly this identifier.`;
  return [{ decorator: 'WordsParam', meaning, property: 'q?: string' }];
}
