import { isIndexed } from '../fields.js';
import { capitalised, snakeOf } from '../names.js';
import { countedColumns, indexedColumns, listed, quoted, searchedFields } from './resource.js';

/**
 * @typedef {import('../fields.js').Field} Field
 * @typedef {import('./resource.js').Resource} Resource
 */

/** @param {Resource} resource */
export function entity(resource) {
  const { names, identifier, fields } = resource;
  const counted = countedColumns(resource).map(quoted).join(', ');
  const searched = searchedFields(resource);
  const options = counted === '' ? '' : `, { counted: [${counted}] }`;
  // That of updatedAt comes with @Resource.
  const indexes = indexedColumns(resource)
    .filter((column) => column !== 'updatedAt')
    .map((column) => `@Index(['${column}', '${identifier}'])\n`);
  return `${imports(resource)}
${fields
  .filter(({ type }) => type === 'enum')
  .map((field) => enumeration(names, field))
  .join('')}
@Resource('${names.resource}'${options})
${indexes.join('')}export class ${names.entity} {
  @Meaning('Identifies the ${names.word}.')
  @PrimaryColumn(identifierColumn)
  ${identifier}!: string;

${fields.map((field) => column(resource, field)).join('\n')}
  @CreateDateColumn(timeColumn)
  createdAt!: Date;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;
${searched.length === 0 ? '' : words(searched)}}
`;
}

/** @param {Resource} resource */
function imports(resource) {
  const { fields, targets } = resource;
  const hasIndex = indexedColumns(resource).length > 1 || searchedFields(resource).length > 0;
  const references = fields.some(({ type }) => type === 'reference');
  const typeorm = [
    ...(fields.length > 0 ? ['Column'] : []),
    'CreateDateColumn',
    ...(references ? ['ForeignKey'] : []),
    ...(hasIndex ? ['Index'] : []),
    'PrimaryColumn',
    'UpdateDateColumn',
  ];
  const usesName = fields.some(isName);
  const others = [...targets.values()]
    .filter(({ module }) => module !== '')
    .map(({ entity: name, module }) => `import { ${name} } from '${module}';\n`);
  return `import { ${typeorm.join(', ')} } from 'typeorm';
${others.sort().join('')}import { identifierColumn, Meaning, ${usesName ? 'nameColumn, ' : ''}Resource, timeColumn } from '../resource/index.js';
`;
}

/**
 * @param {Resource['names']} names
 * @param {Field} field
 */
function enumeration(names, { name, values = [] }) {
  const members = values.map(
    (value) => `  ${/^[A-Za-z_]\w*$/.test(value) ? value : quoted(value)} = '${value}',\n`,
  );
  return `\nexport enum ${enumOf(names, name)} {\n${members.join('')}}\n`;
}

/**
 * The class of an enumeration.
 *
 * @param {Resource['names']} names
 * @param {string} field
 */
export function enumOf({ singular }, field) {
  return `${singular}${capitalised(field)}`;
}

/**
 * The type of an enumeration in the database.
 *
 * @param {Resource['names']} names
 * @param {string} field
 */
export function enumNameOf({ word }, field) {
  return `${snakeOf(word)}_${snakeOf(field)}`;
}

/**
 * @param {Resource} resource
 * @param {Field} field
 */
function column(resource, field) {
  const { name, flags } = field;
  const nullable = flags.has('null');
  const { options, type } = columnOf(resource, field);
  const target =
    field.type === 'reference' ? resource.targets.get(field.resource ?? '') : undefined;
  const reference = target ? `  @ForeignKey(() => ${target.entity})\n` : '';
  const given = nullable ? withNull(options) : options;
  const meaning = `  @Meaning('The ${field.name} of the ${resource.names.word}${target ? ', by identifier' : ''}.')\n`;
  return `${meaning}${reference}  @Column(${given})\n  ${name}!: ${type}${nullable ? ' | null' : ''};\n`;
}

/** @param {string} options */
function withNull(options) {
  return options.startsWith('{')
    ? options.replace(/ }$/, ', nullable: true }')
    : `{ ...${options}, nullable: true }`;
}

/**
 * @param {Resource} resource
 * @param {Field} field
 * @returns {{ options: string, type: string }}
 */
function columnOf({ names }, field) {
  switch (field.type) {
    case 'text':
      if (!isIndexed(field.flags))
        return {
          options: `{ type: 'varchar', length: ${digits(field.length ?? 0)} }`,
          type: 'string',
        };
      return {
        options: field.length === 500 ? 'nameColumn' : `{ ...nameColumn, length: ${field.length} }`,
        type: 'string',
      };
    case 'integer':
      return { options: `{ type: 'integer' }`, type: 'number' };
    case 'decimal':
      return { options: `{ type: 'numeric' }`, type: 'string' };
    case 'boolean':
      return { options: `{ type: 'boolean' }`, type: 'boolean' };
    case 'date-time':
      return { options: 'timeColumn', type: 'Date' };
    case 'enum': {
      const type = enumOf(names, field.name);
      return {
        options: `{ type: 'enum', enum: ${type}, enumName: '${enumNameOf(names, field.name)}' }`,
        type,
      };
    }
    case 'reference':
      return { options: 'identifierColumn', type: 'string' };
    case 'json':
      return { options: `{ type: 'jsonb' }`, type: 'object' };
  }
}

/** @param {Field} field */
function isName({ type, flags }) {
  return type === 'text' && isIndexed(flags);
}

/** @param {number} length */
function digits(length) {
  return String(length)
    .replace(/\B(?=(\d{3})+$)/g, '_')
    .replace(/^(\d)_(\d{3})$/, '$1$2');
}

/** @param {readonly string[]} searched */
function words(searched) {
  return `
  /** The words of ${listed(searched)}, for the filter \`q\`; kept by a trigger. */
  @Index({ type: 'gin' })
  @Column({ type: 'tsvector', select: false, insert: false, update: false })
  words!: string;
`;
}
