import { COLUMN_TYPES, identifierFacts, nameColumn } from '@catalogue/server/generator';
import { isIndexed } from '../fields.js';
import { capitalised, snakeOf } from '../names.js';
import { listed, quoted } from './resource.js';

/** @typedef {import('./resource.js').Field} Field */
/** @typedef {import('./resource.js').Resource} Resource */

/** The entity of a resource. @type {(resource: Resource) => string} */
export function entity(resource) {
  const { names, identifier, identifierType, fields, enums, external, searched } = resource;
  const decorators = [
    ...resource.unlistedReferences.map((column) => `@Index(['${column}', '${identifier}'])\n`),
    ...resource.checks.map((check) => `@Check(\`${check}\`)\n`),
  ];
  const declaration = `${enums.map((field) => enumeration(names, field)).join('')}
@Resource('${names.resource}'${options(resource)})
${decorators.join('')}export class ${names.entity} {
  @Meaning('Identifies the ${names.word}.')
  @PrimaryColumn(${keyOptions(resource)})
  ${identifier}!: ${identifierFacts(identifierType).property()};

${fields.map((field) => property(resource, field)).join('\n')}${external ? '' : TIME_COLUMNS}${resource.naturalFields.map(order).join('')}${searched.length === 0 ? '' : words(searched)}}
`;
  return `${imports(resource, declaration)}${declaration}`;
}

/** The times of every resource with a table of its own. */
const TIME_COLUMNS = `
  @CreateDateColumn(timeColumn)
  createdAt!: Date;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;
`;

/** The property for the filter `q`. @type {(searched: readonly string[]) => string} */
const words = (searched) => `
  /** The words of ${listed(searched)}, for the filter \`q\`; kept by a trigger. */
  @Index({ type: 'gin' })
  @Column({ type: 'tsvector', select: false, insert: false, update: false })
  words!: string;
`;

/** The property for the natural order of a field. @type {(field: Field) => string} */
const order = ({ name, flags }) => `
  /** The natural order of the ${name}, for \`sort\`. */
  @NaturalOrder('${name}')
  ${name}Order!: string${flags.has('null') ? ' | null' : ''};
`;

/** The column options of the identifier, as TypeScript. @type {(resource: Resource) => string} */
function keyOptions({ identifierType, external }) {
  if (!external || identifierType !== 'text') return identifierFacts(identifierType).options();
  const { keyLength: length } = external;
  return COLUMN_TYPES.text.options({ length, isIndexed: false, enumClass: '', enumName: '' });
}

/** The second argument of `@Resource`, with the comma before it. @type {(resource: Resource) => string} */
function options(resource) {
  const { external } = resource;
  const columns = {
    counted: resource.countedColumns,
    filtered: resource.filteredColumns,
    sorted: resource.sortedColumns,
    searched: resource.searchedColumns,
  };
  const declared = Object.entries(columns)
    .filter(([, names]) => names.length > 0)
    .map(([use, names]) => `${use}: [${quoted(...names)}]`);
  if (resource.searched.length > 0)
    declared.push(`derived: { words: [${quoted(...resource.searched)}] }`);
  if (external) {
    declared.unshift(`external: { schema: '${external.schema}', name: '${external.name}' }`);
  }
  return declared.length === 0 ? '' : `, { ${declared.join(', ')} }`;
}

/**
 * The imports of what a declaration uses.
 *
 * @param {Resource} resource
 * @param {string} declaration
 */
function imports({ targets }, declaration) {
  const typeorm = declaration.match(
    /(?<=@)(Check|Column|CreateDateColumn|ForeignKey|Index|PrimaryColumn|UpdateDateColumn)\b/g,
  );
  const own = declaration.match(
    /\b(identifierColumn|Meaning|nameColumn|NaturalOrder|Resource|timeColumn)\b/g,
  );
  const others = [...targets.values()]
    .filter(({ module }) => module !== '')
    .map(({ entity: name, module }) => `import { ${name} } from '${module}';\n`);
  return `import { ${[...new Set(typeorm)].sort().join(', ')} } from 'typeorm';
${others.sort().join('')}import { ${[...new Set(own)].sort((one, other) => one.localeCompare(other, 'en')).join(', ')} } from '@catalogue/server';
`;
}

/** The declaration of a field's enumeration. @type {(names: Resource['names'], field: Field) => string} */
function enumeration(names, { name, values = [] }) {
  const members = values.map(
    (value) => `  ${/^[A-Za-z_]\w*$/.test(value) ? value : quoted(value)} = '${value}',\n`,
  );
  return `\nexport enum ${enumOf(names, name)} {\n${members.join('')}}\n`;
}

/** The TypeScript enumeration of a field. @type {(names: Resource['names'], field: string) => string} */
export const enumOf = ({ singular }, field) => `${singular}${capitalised(field)}`;

/** The PostgreSQL type of a field's enumeration. @type {(names: Resource['names'], field: string) => string} */
export const enumNameOf = ({ word }, field) => `${snakeOf(word)}_${snakeOf(field)}`;

/** The property of a field, with its decorators. @type {(resource: Resource, field: Field) => string} */
function property(described, field) {
  const { names, targets, external } = described;
  const { name, flags, resource = '' } = field;
  const column = columnOf(described, field);
  const target = targets.get(resource);
  const meaning = `The ${name} of the ${names.word}${target ? ', by identifier' : ''}.`;
  const reference = target ? `  @ForeignKey(() => ${target.entity})\n` : '';
  const index = described.ginColumns.includes(name) ? `  @Index({ type: 'gin' })\n` : '';
  // The type of an enumeration of others has no name here.
  const own = external ? column.options.replace(/, enumName: '\w+'/, '') : column.options;
  const withNull = own.startsWith('{')
    ? own.replace(/ }$/, ', nullable: true }')
    : `{ ...${own}, nullable: true }`;
  const nullable = flags.has('null');
  return `  @Meaning('${meaning}')
${reference}${index}  @Column(${nullable ? withNull : own})
  ${name}!: ${column.property}${nullable ? ' | null' : ''};
`;
}

/**
 * The code for a field by its type. That of a reference is the type of the identifier that it refers to.
 *
 * @param {Resource} described
 * @param {Field} field
 */
export function columnOf(
  { names, targets, external },
  { name, type, length = 0, resource, flags },
) {
  const target = targets.get(resource ?? '');
  const facts = target ? identifierFacts(target.identifierType) : COLUMN_TYPES[type];
  const column = {
    length,
    // Of an external table, only the length of a text is known.
    isIndexed: !external && isIndexed(flags),
    enumClass: enumOf(names, name),
    enumName: enumNameOf(names, name),
  };
  return {
    ...facts,
    sql: facts.sql(column),
    options: facts.options(column),
    property: facts.property(column),
    // A filter takes no text that is longer than a name.
    argument: facts.argument({ ...column, length: Math.min(length, nameColumn.length) }),
  };
}
