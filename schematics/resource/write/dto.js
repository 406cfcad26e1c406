import { enumOf } from './entity.js';
import { listed, quoted, searchedFields, sorts } from './resource.js';

/**
 * @typedef {import('../fields.js').Field} Field
 * @typedef {import('./resource.js').Resource} Resource
 */

/**
 * A parameter of the list: its decorator, with what that imports, and its property.
 *
 * @typedef {object} Parameter
 * @property {string} meaning
 * @property {(meaning: string) => string} decorator
 * @property {string} uses
 * @property {string} property
 */

/** @param {Resource} resource */
export function dto(resource) {
  const { names, identifier, fields } = resource;
  /** @type {Parameter[]} */
  const parameters = [
    {
      meaning: `The ${names.words} with these identifiers.`,
      decorator: (meaning) => `IdentifiersParam('${meaning}')`,
      uses: 'IdentifiersParam',
      property: `${identifier}?: string[]`,
    },
    ...[...fields, ...resource.times].flatMap((field) => parametersOf(resource, field)),
    ...searchOf(resource),
  ];
  const base = ['ListQueryDto', 'ObjectQueryDto', 'QueryOf'];
  const uses = [...new Set([...base, ...parameters.map((parameter) => parameter.uses)])].sort();
  const enums = fields
    .filter(({ type, flags }) => type === 'enum' && (flags.has('exact') || flags.has('several')))
    .map(({ name }) => enumOf(names, name));
  return `import { ${uses.join(', ')} } from '../list/index.js';
import { ${[names.entity, ...enums].join(', ')} } from './${names.file}.entity.js';

@QueryOf(${names.entity})
export class Get${names.singular}Dto extends ObjectQueryDto {}

@QueryOf(${names.entity}, { sort: [${sorts(resource).map(quoted).join(', ')}] })
export class List${names.plural}Dto extends ListQueryDto {
${parameters.map(({ meaning, decorator, property }) => `  @${decorator(meaning)}\n  ${property};\n`).join('\n')}}
`;
}

/**
 * @param {Resource} resource
 * @param {Field} field
 * @returns {Parameter[]}
 */
function parametersOf({ names }, field) {
  const { name, flags } = field;
  const whose = `The ${names.words} whose ${name} is`;
  if (flags.has('several')) {
    return [{ meaning: `${whose} one of these.`, ...severalOf(names, field) }];
  }
  const bounds = flags.has('range')
    ? [
        {
          meaning: `${whose} ${isTime(field) ? 'this time or later' : 'at least this'}.`,
          ...oneOf(names, field, `${name}Min`),
        },
        {
          meaning: `${whose} ${isTime(field) ? 'this time or earlier' : 'at most this'}.`,
          ...oneOf(names, field, `${name}Max`),
        },
      ]
    : [];
  const exactly = field.type === 'boolean' ? 'true, or those where it is false' : 'this';
  return flags.has('exact')
    ? [{ meaning: `${whose} ${exactly}.`, ...oneOf(names, field, name) }, ...bounds]
    : bounds;
}

/** @param {Field} field */
function isTime({ type }) {
  return type === 'date-time';
}

/**
 * @param {Resource['names']} names
 * @param {Field} field
 * @returns {Omit<Parameter, 'meaning'>}
 */
function severalOf(names, { name, type, length }) {
  if (type === 'enum') {
    const values = enumOf(names, name);
    return {
      decorator: (meaning) => `EnumsParam('${meaning}', ${values})`,
      uses: 'EnumsParam',
      property: `${name}?: ${values}[]`,
    };
  }
  if (type === 'reference') {
    return {
      decorator: (meaning) => `IdentifiersParam('${meaning}')`,
      uses: 'IdentifiersParam',
      property: `${name}?: string[]`,
    };
  }
  return {
    decorator: (meaning) => `TextsParam('${meaning}'${length === 500 ? '' : `, ${length}`})`,
    uses: 'TextsParam',
    property: `${name}?: string[]`,
  };
}

/**
 * @param {Resource['names']} names
 * @param {Field} field
 * @param {string} parameter
 * @returns {Omit<Parameter, 'meaning'>}
 */
function oneOf(names, { name, type, length }, parameter) {
  switch (type) {
    case 'integer':
      return {
        decorator: (meaning) => `IntegerParam('${meaning}')`,
        uses: 'IntegerParam',
        property: `${parameter}?: number`,
      };
    case 'decimal':
      return {
        decorator: (meaning) => `DecimalParam('${meaning}')`,
        uses: 'DecimalParam',
        property: `${parameter}?: string`,
      };
    case 'boolean':
      return {
        decorator: (meaning) => `BooleanParam('${meaning}')`,
        uses: 'BooleanParam',
        property: `${parameter}?: boolean`,
      };
    case 'date-time':
      return {
        decorator: (meaning) => `DateTimeParam('${meaning}')`,
        uses: 'DateTimeParam',
        property: `${parameter}?: Date`,
      };
    case 'reference':
      return {
        decorator: (meaning) => `IdentifierParam('${meaning}')`,
        uses: 'IdentifierParam',
        property: `${parameter}?: string`,
      };
    case 'enum': {
      const values = enumOf(names, name);
      return {
        decorator: (meaning) => `EnumParam('${meaning}', ${values})`,
        uses: 'EnumParam',
        property: `${parameter}?: ${values}`,
      };
    }
    default:
      return {
        decorator: (meaning) => `TextParam('${meaning}'${length === 500 ? '' : `, ${length}`})`,
        uses: 'TextParam',
        property: `${parameter}?: string`,
      };
  }
}

/**
 * @param {Resource} resource
 * @returns {Parameter[]}
 */
function searchOf(resource) {
  const searched = searchedFields(resource);
  if (searched.length === 0) return [];
  return [
    {
      meaning: `The ${resource.names.words} with all these words in ${listed(searched)}.`,
      decorator: (meaning) => `WordsParam('${meaning}')`,
      uses: 'WordsParam',
      property: 'q?: string',
    },
  ];
}
