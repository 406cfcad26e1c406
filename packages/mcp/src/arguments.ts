import type { Parameter, ParameterSchema } from './document.js';

/** What a model sends to a tool. */
export type Arguments = Readonly<Record<string, unknown>>;

/**
 * Arguments as the service takes them. Hosts fill in what a model leaves out, with null, an empty text or an empty list,
 * and write lists as texts: what is empty is left out, and a list in a text is a list.
 *
 * @throws TypeError for an object where a parameter takes none
 */
export function sentArguments(
  given: Arguments,
  parameters: readonly Parameter[],
): Record<string, unknown> {
  const schemas = new Map(parameters.map(({ name, schema }) => [name, schema]));
  const sent = Object.entries(given).map(([name, value]): [string, unknown] => {
    const schema = schemas.get(name);
    // The service says that there is no such parameter.
    if (!schema) return [name, typeof value === 'object' && value ? JSON.stringify(value) : value];
    const list = schema.type === 'array' ? listIn(value) : value;
    const wrong = [list].flat().find(isObject);
    if (wrong === undefined) return [name, withoutEmpty(list)];
    throw new TypeError(
      `The parameter ${name} must be ${expected(schema)}, not ${JSON.stringify(wrong)}`,
    );
  });
  return Object.fromEntries(sent.filter(([, value]) => !isEmpty(value)));
}

/** The list that a text has in JSON, or the value as it is. */
function listIn(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\s*\[/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

function withoutEmpty(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  const items = value.filter((item) => !isEmpty(item));
  return items.length > 0 ? items : undefined;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || value === '';
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function expected({ type, items }: ParameterSchema): string {
  if (items) return `a list, each item ${expected(items)}`;
  return { boolean: 'true or false', integer: 'an integer', number: 'a number' }[type] ?? 'a text';
}
