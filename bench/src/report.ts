import { inspect } from 'node:util';
import type { Cdn } from './cdn.js';
import type { Disk } from './disk.js';
import type { FirstMinute } from './first-minute.js';
import type { Machine } from './machine.js';
import type { Effort, Measurement } from './measure.js';
import type { ListMeasurement } from './measure-lists.js';
import type { MixMeasurement } from './measure-mix.js';
import type { Moments } from './moments/moments.js';
import type { Overload } from './overload.js';
import type { WaitsMeasurement } from './waits.js';

/** Everything that a run found out about one number of products. */
export interface Results {
  readonly rows: number;
  readonly measurements?: readonly Measurement[];
  /** Latencies of one connection alone. */
  readonly alone?: readonly Measurement[];
  /** Those of a storefront, each by itself. */
  readonly lists?: readonly ListMeasurement[];
  /** All of them together, without and with a writer. */
  readonly mixes?: readonly MixMeasurement[];
  /** Seconds of an import into an empty table, for what grows with the products. */
  readonly imported?: number;
  /** MiB. */
  readonly memory?: readonly number[];
  readonly overloaded?: Overload;
  readonly firstMinute?: FirstMinute;
  readonly disk?: Disk;
  readonly cdn?: Cdn;
  readonly waits?: readonly WaitsMeasurement[];
  readonly moments?: Moments;
}

export interface Report {
  readonly machine: Machine;
  readonly effort: Effort;
  readonly results: readonly Results[];
}

/** All results of one number of products as text, with three digits. The documents have them as tables. */
export function asText(results: Results | undefined): string {
  const json = JSON.stringify(results, (_, value: unknown) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(3)) : value,
  );
  return inspect(JSON.parse(json), { depth: null, maxArrayLength: null, breakLength: 160 });
}
