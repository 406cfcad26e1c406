import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { identifierOf } from '../resource/resource.js';
import { stepsOfCircle } from './circle.js';
import { hasNull, importedFields } from './columns.js';

/** Name of the staging table, a temporary table that is dropped with its transaction. */
export const STAGING = '"import_staging"';

/** How many of the staged rows set a field. */
export type Presence = 'all' | 'some' | 'none';

/** A query on the staged rows. Each row of its result is a problem: `line`, `value`. */
export interface Check {
  readonly field?: string;
  readonly query: string;
  /** Whether the result is right only if every row of the file is staged. */
  readonly needsAllRows?: boolean;
  /** The message for a row of the result. */
  message(value: string): string;
}

/** The SQL statements of an import, after its rows are staged. */
export class Statements {
  private readonly table: string;
  private readonly identifier: string;
  private readonly fields: readonly ColumnMetadata[];
  private readonly writtenFields: readonly ColumnMetadata[];
  private readonly rows: string;

  /** @param presence of each field, in the order of `importedFields` */
  constructor(
    private readonly dataSource: DataSource,
    private readonly metadata: EntityMetadata,
    private readonly presence: readonly Presence[],
    private readonly replace: boolean,
  ) {
    this.table = `"${metadata.tableName}"`;
    this.identifier = quoted(identifierOf(metadata));
    this.fields = importedFields(metadata);
    this.writtenFields = this.fields.filter(
      (column, at) => presence[at] !== 'none' || !hasNull(column),
    );
    const values = this.fields.map((column, at) => `${this.value(at)} AS ${quoted(column)}`);
    // The staged rows, merged with the existing objects.
    this.rows = `(
      SELECT staged."#line", ${this.isChange()} AS "#change", ${values.join(', ')}
      FROM ${STAGING} staged LEFT JOIN ${this.table} present USING (${this.identifier})
    ) row`;
  }

  /** Creates the staging table, with the columns that `Staging` writes. */
  static createStaging(metadata: EntityMetadata): string {
    const columns = importedFields(metadata).map(quoted);
    return `CREATE TEMP TABLE ${STAGING} ON COMMIT DROP AS
      SELECT 0::bigint AS "#line", ''::text AS "#given", ${columns.join(', ')}
      FROM "${metadata.tableName}" WITH NO DATA`;
  }

  /** The checks that must find nothing before the upsert. */
  checks(): Check[] {
    return [this.repeated(), ...this.missing(), ...this.references(), ...this.rules()];
  }

  /** Inserts and updates objects. Result: one row with the counts `inserted` and `updated`. */
  upsert(): string {
    const set = this.setFields().map(([, column]) => quoted(column));
    const present = set.map((column) => `present.${column}`).join(', ');
    const excluded = set.map((column) => `excluded.${column}`).join(', ');
    const onConflict =
      set.length === 0
        ? 'DO NOTHING'
        : `DO UPDATE SET (${set.join(', ')}) = ROW(${excluded})
           WHERE ROW(${present}) IS DISTINCT FROM ROW(${excluded})`;
    // ON CONFLICT would lock the objects that do not change, and so write every page of the table.
    return `WITH changed AS (
        ${this.insert(`${this.rows} WHERE row."#change"`)}
        ON CONFLICT (${this.identifier}) ${onConflict}
        -- xmax is 0 for an inserted row. For an updated one it is the lock of this transaction.
        RETURNING (present.xmax = 0) AS inserted
      )
      SELECT count(*) FILTER (WHERE inserted) AS inserted,
             count(*) FILTER (WHERE NOT inserted) AS updated FROM changed`;
  }

  /** Deletes the objects that are not staged. Result: one row with the count `deleted`. */
  deletion(): string {
    return `WITH gone AS (DELETE FROM ${this.table} present WHERE ${this.isLacking()} RETURNING 1)
      SELECT count(*) AS deleted FROM gone`;
  }

  /** Result: one row with the counts `deleted`, of the objects that `deletion` deletes, and `all`. */
  deletions(): string {
    // A condition of WHERE becomes a join. One of FILTER is asked of each object.
    return `SELECT (SELECT count(*) FROM ${this.table} present WHERE ${this.isLacking()}) AS deleted,
      (SELECT count(*) FROM ${this.table}) AS all`;
  }

  /** Whether an object `present` is not staged, in SQL. */
  private isLacking(): string {
    return `NOT EXISTS (
      SELECT FROM ${STAGING} staged WHERE staged.${this.identifier} = present.${this.identifier}
    )`;
  }

  /** Rows in the order of the identifier change the same index pages one after another. */
  private insert(rows: string): string {
    const columns = this.writtenFields.map(quoted);
    return `INSERT INTO ${this.table} AS present (${columns.join(', ')})
      SELECT ${columns.map((column) => `row.${column}`).join(', ')} FROM ${rows} ORDER BY row.${this.identifier}`;
  }

  /** Whether a row `staged` has no object, or changes its object `present`, in SQL. */
  private isChange(): string {
    const isNew = `present.${this.identifier} IS NULL`;
    const set = this.setFields();
    if (set.length === 0) return isNew;
    const before = set.map(([, column]) => `present.${quoted(column)}`).join(', ');
    return `(${isNew} OR ROW(${before}) IS DISTINCT FROM ROW(${set.map(([at]) => this.value(at)).join(', ')}))`;
  }

  /** The fields that the file has besides the identifier, with their places. Another session may write the other ones. */
  private setFields(): (readonly [number, ColumnMetadata])[] {
    return [...this.fields.entries()].filter(
      ([at, column]) => this.presence[at] !== 'none' && quoted(column) !== this.identifier,
    );
  }

  /** The value of a field after the import, in SQL on a row `staged` and its object `present`. */
  private value(at: number): string {
    const column = this.fields[at];
    if (!column) throw new RangeError(`There is no field ${at}`);
    const name = quoted(column);
    if (name === this.identifier) return `staged.${name}`;
    const value = {
      all: `staged.${name}`,
      some: `CASE WHEN substr(staged."#given", ${at + 1}, 1) = 't'
             THEN staged.${name} ELSE present.${name} END`,
      none: `present.${name}`,
    }[this.presence[at] ?? 'none'];
    const columnDefault = column.isNullable ? undefined : this.defaultOf(column);
    return columnDefault ? `coalesce(${value}, present.${name}, ${columnDefault})` : value;
  }

  /** The default of a column as SQL; undefined if it has none. */
  private defaultOf(column: ColumnMetadata): string | undefined {
    return column.isCreateDate ? 'now()' : this.dataSource.driver.normalizeDefault(column);
  }

  private repeated(): Check {
    return {
      field: identifierOf(this.metadata).propertyName,
      query: `SELECT "#line" AS line, ${this.identifier}::text || ', which line ' || "#first" || ' has already' AS value
        FROM (SELECT "#line", ${this.identifier}, min("#line") OVER same AS "#first"
              FROM ${STAGING} WINDOW same AS (PARTITION BY ${this.identifier})) staged
        WHERE "#line" > "#first" AND ${this.identifier} IS NOT NULL`,
      message: (value) => `repeats ${value}`,
    };
  }

  private missing(): Check[] {
    return this.fields
      .filter((column, at) => !hasNull(column) && this.presence[at] !== 'all')
      .map((column) => ({
        field: column.propertyName,
        query: `SELECT "#line" AS line, ${this.identifier} AS value
          FROM ${this.rows} WHERE ${quoted(column)} IS NULL AND ${this.identifier} IS NOT NULL`,
        message: (value) => `must be given for ${value}, which is new`,
      }));
  }

  private references(): Check[] {
    return this.metadata.foreignKeys.flatMap(
      ({ columns, referencedColumns, referencedEntityMetadata }) => {
        const [column] = columns;
        const [key] = referencedColumns;
        if (!column || !key || this.presence[this.fields.indexOf(column)] === 'none') return [];
        const target = referencedEntityMetadata.tableName;
        const isSelf = target === this.metadata.tableName;
        const steps = isSelf ? '' : stepsOfCircle(this.metadata, column, referencedEntityMetadata);
        const sources = [
          ...(isSelf && this.replace ? [] : [`"${target}"`]),
          ...(isSelf ? [STAGING] : []),
        ].map(
          (source) =>
            `EXISTS (SELECT FROM ${source} target WHERE target.${quoted(key)} = row.${quoted(column)})`,
        );
        return {
          field: column.propertyName,
          needsAllRows: isSelf,
          query: `SELECT "#line" AS line, ${quoted(column)} AS value
          FROM ${this.rows} WHERE ${quoted(column)} IS NOT NULL AND NOT (${sources.join(' OR ')})`,
          message: (value: string) => `there is no ${target} object ${value}${steps}`,
        };
      },
    );
  }

  private rules(): Check[] {
    return this.metadata.checks.map(({ name, expression }) => ({
      field: this.onlyField(expression),
      query: `SELECT "#line" AS line, ${this.identifier} AS value
        FROM ${this.rows} WHERE NOT (${expression})`,
      message: (value) => `${value} breaks the rule ${name}: ${expression}`,
    }));
  }

  /** The field of a check constraint; `undefined` if the constraint refers to several. */
  private onlyField(expression: string): string | undefined {
    const words: string[] = expression.match(/\w+/g) ?? [];
    const [field, ...others] = this.fields.filter(({ databaseName }) =>
      words.includes(databaseName),
    );
    return others.length === 0 ? field?.propertyName : undefined;
  }
}

function quoted({ databaseName }: ColumnMetadata): string {
  return `"${databaseName}"`;
}
