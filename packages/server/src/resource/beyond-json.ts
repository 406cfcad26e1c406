import { SIGNED_DECIMAL } from './formats.js';

/** A schema of JSON Schema 2020-12. */
export interface ValueSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly string[];
  readonly [keyword: string]: unknown;
}

/**
 * Values that a type has in PostgreSQL and JSON has no form for: `infinity`, `NaN`, years before 1 and after 9999. Lists show
 * the text that PostgreSQL has for them.
 */
export interface BeyondForm {
  /** The SQL condition that a value is none of these. */
  readonly isWithin: (reference: string) => string;
  /** The JSON schema of the values of an external table, which may have them. */
  readonly schema: ValueSchema;
}

const isFiniteNumber: BeyondForm['isWithin'] = (reference) =>
  `${reference} > '-Infinity' AND ${reference} < 'Infinity'`;
const OF_NUMBERS = 'NaN|-?Infinity';

export const BEYOND_DECIMALS: BeyondForm = {
  isWithin: isFiniteNumber,
  schema: { type: 'string', pattern: `${SIGNED_DECIMAL.source}|^(${OF_NUMBERS})$` },
};

export const BEYOND_DOUBLES: BeyondForm = {
  isWithin: isFiniteNumber,
  schema: { type: ['number', 'string'], format: 'double', pattern: `^(${OF_NUMBERS})$` },
};

/** The keywords of a date and of a time in the public form, without a type, since null has to meet them, too. */
export const DATE = { format: 'date', maxLength: 10 };
export const TIME = { format: 'date-time', maxLength: 24 };

export const BEYOND_DATES = beyondTimes(DATE);
export const BEYOND_TIMES = beyondTimes(TIME);

function beyondTimes(own: object): BeyondForm {
  const pattern = '^-?infinity$| BC$|^[1-9][0-9]{4}';
  return {
    isWithin: (reference) =>
      `${reference} >= '0001-01-01 00:00Z' AND ${reference} < '10000-01-01 00:00Z'`,
    schema: { type: 'string', anyOf: [own, { pattern }] },
  };
}

/** An SQL expression for a date or time as PostgreSQL writes it in JSON, whatever `DateStyle` is. */
export const jsonText = (reference: string): string => `(to_json(${reference}) #>> '{}')`;

/** An SQL expression for a time as RFC 3339 in UTC, with the text of PostgreSQL for a time that has no such form. */
export const timeText = (reference: string): string =>
  `CASE WHEN ${BEYOND_TIMES.isWithin(reference)}
    THEN to_char(${reference} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    ELSE ${jsonText(`${reference} AT TIME ZONE 'UTC'`)} END`;
