import type { Type } from '@nestjs/common';
import {
  Column,
  type ColumnOptions,
  Entity,
  getMetadataArgsStorage,
  PrimaryColumn,
  type PrimaryColumnOptions,
} from 'typeorm';
import { DELETIONS, type Scope } from '../../resource/declaration.js';
import { scopeOf } from '../../resource/visibility.js';
import { identifierColumn, timeColumn } from '../../resource/column-types.js';
import { isTextIdentifier } from '../../resource/formats.js';
import { resourceName } from '../../resource/resource.js';

/**
 * Days for which clients can ask for a deletion, and further days before it is removed. With more days than before, deletions
 * that were removed already are missing.
 */
export const RETENTION = { days: 30, extraDays: 1 };

/** The table of a resource's deletions, quoted. The SQL function `install_deletions` creates it. */
export function deletionsTable(resource: string): string {
  return `"${resource}_deletions"`;
}

/** The columns of a resource that its deletions record besides the identifier: those of its scope. */
export function recordedColumns(scope: Scope | undefined, identifier: string): string[] {
  return (scope?.columns ?? []).filter((column) => column !== identifier);
}

/** Creates the entity for the deletions of a resource. */
export function deletionOf(target: Type): Type {
  const columns = getMetadataArgsStorage().filterColumns(target);
  const key = columns.find(({ options }) => options.primary);
  const identifier = key?.propertyName ?? '';
  class Deletion {
    deletedAt!: Date;
  }
  Object.defineProperty(Deletion, 'name', { value: `${target.name}Deletion` });
  // Not synchronized: it is created together with its triggers.
  Entity({ name: `${resourceName(target)}_deletions`, synchronize: false })(Deletion);
  DELETIONS.set(Deletion, target);
  const { prototype } = Deletion;
  PrimaryColumn(keyColumn(key?.options))(prototype, identifier);
  Column({ ...timeColumn, name: 'deletedAt' })(prototype, 'deletedAt');
  for (const name of recordedColumns(scopeOf({ target }), identifier)) {
    const options = columns.find(({ propertyName }) => propertyName === name)?.options;
    Column({ ...options, primary: false, select: false, nullable: true })(prototype, name);
  }
  return Deletion;
}

/** As `install_deletions` creates it. */
function keyColumn(options: ColumnOptions = {}): PrimaryColumnOptions {
  const { name, type } = options;
  return isTextIdentifier(type) ? { ...identifierColumn, name } : { name, type };
}
