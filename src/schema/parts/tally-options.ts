import type { EntityMetadata } from 'typeorm';
import { namesOf } from '../../list/tally/facet.js';
import { facetColumnsOf } from '../../list/tally/tally.js';
import { declaredColumns } from '../../resource/declaration.js';
import { columnOf } from '../../resource/resource.js';

/** The names of columns in the database. */
function named(metadata: EntityMetadata, properties: readonly string[]): string[] {
  return properties.map((name) => columnOf(metadata, name).databaseName);
}

/** An option of a tally. It is a column of the table `tallies` and an argument of `install_tally`. */
interface TallyOption {
  /** What the tally does by these columns, for an operator. */
  readonly does: string;
  /** Columns, or combinations of columns such as `categoryID+type`, that an entity declares. */
  readonly declared: (metadata: EntityMetadata) => readonly string[];
  /** Whether another type of one of these columns makes another tally. */
  readonly dependsOnTypes: boolean;
}

/**
 * In the order of the arguments of `install_tally`. Comparison and migrations follow from an option that names columns.
 * Another one also needs `src/schema/parts/tally.ts`. What triggers compare is in the view `tally_orders`; tracked tables have
 * `tracking.sql` and `tracking.ts` here.
 */
export const TALLY_OPTIONS = {
  counted: {
    does: 'counts',
    declared: (metadata) => facetColumnsOf(metadata).map(namesOf),
    dependsOnTypes: true,
  },
  sorted: {
    does: 'has ranges',
    declared: (metadata) => named(metadata, declaredColumns(metadata).sorted),
    dependsOnTypes: true,
  },
  searched: {
    does: 'counts words',
    declared: (metadata) => named(metadata, declaredColumns(metadata).searched),
    dependsOnTypes: false,
  },
  intervals: {
    does: 'counts intervals',
    declared: (metadata) =>
      declaredColumns(metadata).intervals.map(({ of, within }) =>
        named(metadata, [...within, of]).join('+'),
      ),
    dependsOnTypes: true,
  },
} as const satisfies Readonly<Record<string, TallyOption>>;
