import type { ObjectLiteral } from 'typeorm';
import type { ParameterSink } from '../../database/statement.js';

let parameters = 0;

/** The parameters of SQL in `Raw`. Conditions of one statement share the names, so each has one of its own. */
export class NamedParameters implements ParameterSink {
  /** As the second argument of `Raw`. */
  readonly values: ObjectLiteral = {};

  /** Adds a value and returns its parameter, such as `:value3`. */
  add(value: unknown): string {
    const name = `value${++parameters}`;
    this.values[name] = value;
    return `:${name}`;
  }
}
