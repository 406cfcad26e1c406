import { COLUMN_TYPES, identifierFacts } from '../../../src/resource/column-types.js';
import { isIndexed } from '../fields.js';
import { capitalised, snakeOf } from '../names.js';
import { classesOf } from './classes.js';
import {
  checksOf,
  columnTypeOf,
  countedColumns,
  filteredColumns,
  ginColumns,
  listed,
  quoted,
  searchedColumns,
  searchedFields,
  sortedColumns,
  unlistedReferences,
} from './resource.js';

/**
 * @typedef {import('../fields.js').Field} Field
 * @typedef {import('./resource.js').Resource} Resource
 * @typedef {import('./classes.js').Classes} Classes
 */

/**
 * The entity of a resource.
 *
 * @param {Resource} resource
 */
export function entity(resource) {
  const { names, identifier, fields, external } = resource;
  const key = identifierFacts(resource.identifierType);
  const searched = searchedFields(resource);
  const classes = classesOf(names.singular, resource.shapes, [
    names.entity,
    ...fields.filter(({ type }) => type === 'enum').map(({ name }) => enumOf(names, name)),
    ...[...resource.targets.values()].map((target) => target.entity),
  ]);
  const indexes = unlistedReferences(resource).map(
    (column) => `@Index(['${column}', '${identifier}'])\n`,
  );
  const checks = checksOf(resource).map((check) => `@Check(\`${check}\`)\n`);
  return `${imports(resource, classes)}
${fields
  .filter(({ type }) => type === 'enum')
  .map((field) => enumeration(names, field))
  .join('')}${classes.text}
@Resource('${names.resource}'${options(resource)})
${indexes.join('')}${checks.join('')}export class ${names.entity} {
  @Meaning('Identifies the ${names.word}.')
  @PrimaryColumn(${keyOptions(resource)})
  ${identifier}!: ${key.property()};

${fields.map((field) => property(resource, field, classes)).join('\n')}${external ? '' : TIME_COLUMNS}${searched.length === 0 ? '' : words(searched)}}
`;
}

/** The times of every resource with a table of its own. */
const TIME_COLUMNS = `
  @CreateDateColumn(timeColumn)
  createdAt!: Date;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;
`;

/**
 * The column options of the identifier, as TypeScript.
 *
 * @param {Resource} resource
 */
function keyOptions({ identifierType, external }) {
  if (!external || identifierType !== 'text') return identifierFacts(identifierType).options();
  const column = { length: external.keyLength, isIndexed: false, enumClass: '', enumName: '' };
  return COLUMN_TYPES.text.options(column);
}

/**
 * The column options of a field, as TypeScript. The type of an enumeration of others has no name here.
 *
 * @param {Resource} resource
 * @param {Field} field
 */
function optionsOf(resource, field) {
  const options = columnTypeOf(resource, field).options(columnOf(resource, field));
  return resource.external ? options.replace(/, enumName: '\w+'/, '') : options;
}

/**
 * The second argument of `@Resource`, with the comma before it.
 *
 * @param {Resource} resource
 */
function options(resource) {
  const { external } = resource;
  if (external) {
    const table = `schema: ${quoted(external.schema)}, name: ${quoted(external.name)}`;
    if (!external.tracked) return `, { external: { ${table} } }`;
    const counted = countedColumns(resource);
    const counting = counted.length > 0 ? `, counted: [${counted.map(quoted).join(', ')}]` : '';
    return `, { external: { ${table}, tracked: true }${counting} }`;
  }
  const columns = {
    counted: countedColumns(resource),
    filtered: filteredColumns(resource),
    sorted: sortedColumns(resource),
    searched: searchedColumns(resource),
  };
  const declared = Object.entries(columns).filter(([, names]) => names.length > 0);
  if (declared.length === 0) return '';
  return `, { ${declared.map(([use, names]) => `${use}: [${names.map(quoted).join(', ')}]`).join(', ')} }`;
}

/**
 * @param {Resource} resource
 * @param {Classes} classes
 */
function imports(resource, { decorators }) {
  const { fields, targets, external } = resource;
  const hasIndex = unlistedReferences(resource).length + ginColumns(resource).length > 0;
  const references = fields.some(({ type }) => type === 'reference');
  const typeorm = [
    ...(checksOf(resource).length > 0 ? ['Check'] : []),
    ...(fields.length > 0 ? ['Column'] : []),
    ...(external ? [] : ['CreateDateColumn']),
    ...(references ? ['ForeignKey'] : []),
    ...(hasIndex ? ['Index'] : []),
    'PrimaryColumn',
    ...(external ? [] : ['UpdateDateColumn']),
  ];
  const options = [
    keyOptions(resource),
    ...fields.map((field) => optionsOf(resource, field)),
    ...(external ? [] : ['timeColumn']),
  ];
  const columns = options.flatMap((text) => text.match(/\b\w+Column\b/g) ?? []);
  const own = new Set(['Meaning', 'Resource', ...columns]);
  const others = [...targets.values()]
    .filter(({ module }) => module !== '')
    .map(({ entity: name, module }) => `import { ${name} } from '${module}';\n`);
  const shapes =
    decorators.length === 0
      ? ''
      : `import { Type } from 'class-transformer';
import { ${decorators.toSorted().join(', ')} } from 'class-validator';
`;
  return `${shapes}import { ${typeorm.join(', ')} } from 'typeorm';
${others.sort().join('')}import { ${[...own].sort((one, other) => one.localeCompare(other, 'en')).join(', ')} } from '../resource/index.js';
`;
}

/**
 * The declaration of a field's enumeration.
 *
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
 * The TypeScript enumeration of a field.
 *
 * @param {Resource['names']} names
 * @param {string} field
 */
export function enumOf({ singular }, field) {
  return `${singular}${capitalised(field)}`;
}

/**
 * The PostgreSQL type of a field's enumeration.
 *
 * @param {Resource['names']} names
 * @param {string} field
 */
export function enumNameOf({ word }, field) {
  return `${snakeOf(word)}_${snakeOf(field)}`;
}

/**
 * The property of a field, with its decorators.
 *
 * @param {Resource} described
 * @param {Field} field
 * @param {Classes} classes
 */
function property(described, field, { properties }) {
  const { names, targets } = described;
  const { name, flags, resource } = field;
  const column = columnOf(described, field);
  const type = columnTypeOf(described, field);
  const options = optionsOf(described, field);
  const nullable = flags.has('null');
  const target = resource === undefined ? undefined : targets.get(resource);
  const meaning = `The ${name} of the ${names.word}${target ? ', by identifier' : ''}.`;
  const reference = target ? `  @ForeignKey(() => ${target.entity})\n` : '';
  const index = ginColumns(described).includes(name) ? `  @Index({ type: 'gin' })\n` : '';
  const objects = properties.get(name);
  const shape = objects === undefined ? '' : `  @Type(() => ${objects.replace('[]', '')})\n`;
  return `  @Meaning('${meaning}')
${reference}${index}  @Column(${nullable ? withNull(options) : options})
${shape}  ${name}!: ${objects ?? type.property(column)}${nullable ? ' | null' : ''};
`;
}

/**
 * A field as its type describes the code for it.
 *
 * @param {Pick<Resource, 'names' | 'external'>} resource
 * @param {Field} field
 * @returns {import('../../../src/resource/column-types.js').GeneratedColumn}
 */
export function columnOf({ names, external }, { name, length = 0, flags }) {
  return {
    length,
    // Of a table of others, only the length of a text is known.
    isIndexed: !external && isIndexed(flags),
    enumClass: enumOf(names, name),
    enumName: enumNameOf(names, name),
  };
}

/** @param {string} options */
function withNull(options) {
  return options.startsWith('{')
    ? options.replace(/ }$/, ', nullable: true }')
    : `{ ...${options}, nullable: true }`;
}

/**
 * The property for the filter `q`.
 *
 * @param {readonly string[]} searched
 */
function words(searched) {
  return `
  /** The words of ${listed(searched)}, for the filter \`q\`; kept by a trigger. */
  @Index({ type: 'gin' })
  @Column({ type: 'tsvector', select: false, insert: false, update: false })
  words!: string;
`;
}
