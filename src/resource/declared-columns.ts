import type { EntityMetadata, ObjectType } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { COLUMN_TYPES, identifierColumn } from './column-types.js';
import { isTextIdentifier } from './identifiers.js';
import { jsonPath } from './json-paths.js';
import { declaredShape } from './json-shape.js';
import {
  countedColumnsOf,
  countedRangesOf,
  externalTableOf,
  filteredColumnsOf,
  pathsOf,
  searchedColumnsOf,
  sortedColumnsOf,
} from './resource.js';

/** The column types that a list can show. Hidden columns may have any. */
const SHOWN: ReadonlySet<unknown> = new Set(
  Object.values(COLUMN_TYPES).flatMap(({ columnTypes }) => columnTypes),
);

/** Those of which equal values are the same as text, by which the tally compares them. */
const COUNTABLE: ReadonlySet<unknown> = new Set(
  Object.values(COLUMN_TYPES).flatMap(({ flags, columnTypes }) =>
    (flags as readonly string[]).includes('counted') ? columnTypes : [],
  ),
);

/** What no list can do of what the entity of a resource declares, as lines. */
export function columnProblems(metadata: EntityMetadata): string[] {
  const { name: entity, columns, primaryColumns, propertiesMap } = metadata;
  const ranges = countedRangesOf(metadata);
  const counted = [
    ...countedColumnsOf(metadata),
    ...ranges.map((names) => names.slice(0, -1)),
  ].flat();
  const stored = new Set([
    ...counted,
    ...filteredColumnsOf(metadata),
    ...sortedColumnsOf(metadata),
    ...searchedColumnsOf(metadata),
    ...pathsOf(metadata),
  ]);
  return [
    ...identifierProblems(metadata),
    ...ranges
      .filter((names) => !sortedColumnsOf(metadata).includes(names.at(-1) ?? ''))
      .map(
        (names) =>
          `${entity} counts ranges by ${names.join(' and ')}, but ${names.at(-1)} is not in its sorted columns`,
      ),
    ...externalProblems(metadata, stored),
    // Class fields are defined (ES2022), so an object has every declared property as a key, also one without a
    // decorator. Only one with `declare` is missing.
    ...Object.keys(metadata.create() as object)
      .filter((property) => !Object.hasOwn(propertiesMap, property))
      .map((property) => `${entity}.${property} has no decorator of a column, such as @Column`),
    ...pathProblems(metadata),
    ...columns.flatMap((column) => {
      const { propertyName } = column;
      const type = typeName(column);
      const name = `${entity}.${propertyName}`;
      const isShown = column.isSelect && !primaryColumns.includes(column);
      return [
        ...(isShown ? typeProblems(name, column) : []),
        ...(type === 'jsonb'
          ? declaredShape(metadata.target as object, propertyName).problems
          : []),
        ...(counted.includes(propertyName) && !COUNTABLE.has(type)
          ? [`${name} cannot be counted, since it is a column of type ${type}`]
          : []),
        ...(column.isDeleteDate
          ? [
              `${name} is a @DeleteDateColumn, and no list leaves out what it marks: delete the rows`,
            ]
          : []),
        ...(column.isVirtualProperty && stored.has(propertyName)
          ? [`${name} is computed for each object, so that no index and no tally can hold it`]
          : []),
      ];
    }),
  ];
}

function pathProblems(metadata: EntityMetadata): string[] {
  return pathsOf(metadata).flatMap((name) => {
    try {
      jsonPath(metadata.target as ObjectType<unknown>, name);
      return [];
    } catch (error) {
      return [(error as TypeError).message];
    }
  });
}

/** What a resource over a table of others cannot have, and no other resource can have of it. */
function externalProblems(metadata: EntityMetadata, stored: ReadonlySet<string>): string[] {
  const { name: entity, updateDateColumn, foreignKeys } = metadata;
  if (!externalTableOf(metadata)) {
    return foreignKeys
      .filter(({ referencedEntityMetadata: other }) => externalTableOf(other))
      .map(
        ({ columns: [column], referencedEntityMetadata: other }) =>
          `${entity}.${column?.propertyName} has a @ForeignKey to ${other.name}, whose table is that of others: a migration would install triggers there`,
      );
  }
  return [
    ...[...stored].map(
      (name) =>
        `${entity}.${name} cannot be counted, filtered, sorted or searched in @Resource, since the table is that of others: it has the indexes that it has, and no tally`,
    ),
    ...(updateDateColumn
      ? [
          `${entity}.${updateDateColumn.propertyName} is an @UpdateDateColumn, which no trigger of the service keeps in a table of others: declare it with @Column`,
        ]
      : []),
  ];
}

function identifierProblems(metadata: EntityMetadata): string[] {
  const { name: entity, primaryColumns } = metadata;
  const [identifier, ...others] = primaryColumns;
  if (!identifier || others.length > 0) {
    const names = primaryColumns.map(({ propertyName }) => propertyName).join(' and ');
    return [
      `${entity} is identified by ${names}: a resource needs exactly one @PrimaryColumn, which may be made of them`,
    ];
  }
  if (externalTableOf(metadata) ? isKeyOfOthers(identifier) : isIdentifying(identifier)) return [];
  return [
    `${entity}.${identifier.propertyName} identifies objects: give it identifierColumn, or the type integer, bigint or uuid`,
  ];
}

/** An identifier of a table of others may be a text of any length and collation. */
function isKeyOfOthers({ type }: ColumnMetadata): boolean {
  return (
    !isTextIdentifier(type) || COLUMN_TYPES.text.columnTypes.some((name: unknown) => name === type)
  );
}

function isIdentifying({ type, collation, length }: ColumnMetadata): boolean {
  if (!isTextIdentifier(type)) return true;
  return (
    type === identifierColumn.type &&
    collation === identifierColumn.collation &&
    Number(length) <= identifierColumn.length
  );
}

function typeProblems(name: string, column: ColumnMetadata): string[] {
  const type = typeName(column);
  if (typeof column.type === 'function') {
    return [`${name} has no column type: give @Column one, such as nameColumn`];
  }
  if (!SHOWN.has(type)) {
    const shown = [...SHOWN].join(', ');
    return [
      `${name} is a column of type ${type}, which no list can show: give it one of ${shown}, or select: false`,
    ];
  }
  return [];
}

function typeName({ type, isArray }: ColumnMetadata): string {
  return `${typeof type === 'function' ? type.name : type}${isArray ? '[]' : ''}`;
}
