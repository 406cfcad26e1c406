import type { Type } from '@nestjs/common';
import { Column, Entity, getMetadataArgsStorage, type ObjectLiteral, PrimaryColumn } from 'typeorm';
import { Meaning, meaningOf } from '../../resource/meaning.js';
import { identifierColumn, timeColumn } from '../../resource/columns.js';

/** What is remembered of the objects of a resource that are gone. */
export interface DeletionEntity {
  readonly resource: string;
  /** The field that identifies its objects, and a deletion. */
  readonly identifier: string;
  readonly entity: Type<ObjectLiteral>;
}

/** Days for which a deletion is told of, and for how many more it is there. */
export const KEPT = { days: 30, more: 1 };

/** The table of a resource's deletions, which `install_deletions` makes. */
export function deletionsTable(resource: string): string {
  return `"${resource}_deletions"`;
}

/** The entity for the deletions of a resource. */
export function deletionOf(target: Type): DeletionEntity {
  const { tables, columns } = getMetadataArgsStorage();
  const resource = tables.find((table) => table.target === target)?.name ?? '';
  const key = columns.find((column) => column.target === target && column.options.primary);
  const field = key?.propertyName ?? '';
  class Deletion {
    deletedAt!: Date;
  }
  Object.defineProperty(Deletion, 'name', { value: `${target.name}Deletion` });
  // Its schema is not TypeORM's: what keeps it is made with it.
  Entity({ name: `${resource}_deletions`, synchronize: false })(Deletion);
  const { prototype } = Deletion;
  Meaning('Identified the object that is gone.', meaningOf(target, field)?.example)(
    prototype,
    field,
  );
  PrimaryColumn(identifierColumn)(prototype, field);
  Meaning('When it was deleted, or its identifier changed.')(prototype, 'deletedAt');
  Column(timeColumn)(prototype, 'deletedAt');
  return { resource, identifier: field, entity: Deletion };
}
