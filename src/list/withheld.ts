import type { DataSource } from 'typeorm';
import { errors } from '../http/errors.js';

const withheld = new WeakMap<DataSource, (resource: string) => boolean>();

/** From now on the lists of these resources are refused with `-2`, and of no others. */
export function withhold(dataSource: DataSource, isWithheld: (resource: string) => boolean): void {
  withheld.set(dataSource, isWithheld);
}

/** `-2` for a resource whose lists are withheld. */
export function refuseWithheld(dataSource: DataSource, resource: string): void {
  if (withheld.get(dataSource)?.(resource)) throw errors.unavailable();
}
