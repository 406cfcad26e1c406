import { identifierFacts } from '../../../src/resource/column-types.js';
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
  const { names, identifier, fields } = resource;
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
  @PrimaryColumn(${key.options()})
  ${identifier}!: ${key.property()};

${fields.map((field) => property(resource, field, classes)).join('\n')}
  @CreateDateColumn(timeColumn)
  createdAt!: Date;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;
${searched.length === 0 ? '' : words(searched)}}
`;
}

/**
 * The second argument of `@Resource`, with the comma before it.
 *
 * @param {Resource} resource
 */
function options(resource) {
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
  const { names, fields, targets } = resource;
  const hasIndex = unlistedReferences(resource).length + ginColumns(resource).length > 0;
  const references = fields.some(({ type }) => type === 'reference');
  const typeorm = [
    ...(checksOf(resource).length > 0 ? ['Check'] : []),
    ...(fields.length > 0 ? ['Column'] : []),
    'CreateDateColumn',
    ...(references ? ['ForeignKey'] : []),
    ...(hasIndex ? ['Index'] : []),
    'PrimaryColumn',
    'UpdateDateColumn',
  ];
  const options = [
    identifierFacts(resource.identifierType).options(),
    ...fields.map((field) => columnTypeOf(resource, field).options(columnOf(names, field))),
  ];
  const columns = options.flatMap((text) => text.match(/\b\w+Column\b/g) ?? []);
  const own = new Set(['Meaning', 'Resource', 'timeColumn', ...columns]);
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
  const column = columnOf(names, field);
  const type = columnTypeOf(described, field);
  const options = type.options(column);
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
 * @param {Resource['names']} names
 * @param {Field} field
 * @returns {import('../../../src/resource/column-types.js').GeneratedColumn}
 */
export function columnOf(names, { name, length = 0, flags }) {
  return {
    length,
    isIndexed: isIndexed(flags),
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
