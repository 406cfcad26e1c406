import { Stream } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import type { Page } from '../../http/envelope.js';
import { fieldsOfRelated } from '../../resource/selection.js';

type Row = Readonly<Record<string, unknown>>;

/** A page with the number of its objects. */
interface HandlerPage extends Page {
  readonly rows: number;
}

/**
 * The page that a custom handler answers with: a `Page`, an object, or a list of objects.
 *
 * @param name of the handler
 * @param names the fields of each object, those of a related one as `brand.name`; default: all that it has
 * @throws TypeError for anything else
 */
export function handlerPage(result: unknown, name: string, names?: readonly string[]): HandlerPage {
  const page = pageOf(result, name);
  if (!page) {
    throw new TypeError(
      `${name} answers with ${kindOf(result)}; it may answer with what listOf or objectOf returns, ` +
        `a Page, an object or a list of objects`,
    );
  }
  if (!names) return page;
  const objects = JSON.parse(page.objects) as Row[];
  return { ...page, objects: JSON.stringify(objects.map((object) => picked(object, names))) };
}

/** The properties of an object that are named, in this order; null for one that is missing, as in a list. */
function picked(object: Row, names: readonly string[]): Row {
  const properties = new Set(names.map((name) => name.replace(/\..*/, '')));
  return Object.fromEntries(
    [...properties].flatMap((property): [string, unknown][] => {
      const value = object[property] ?? null;
      const fields = fieldsOfRelated(property, names);
      if (fields.length === 0 || !value) return [[property, value]];
      if (!Array.isArray(value)) return [[property, picked(value as Row, fields)]];
      const children: [string, unknown] = [
        property,
        (value as Row[]).map((each) => picked(each, fields)),
      ];
      // Never without their number, since they may not be all.
      const count = `${property}Count`;
      return count in object ? [children, [count, object[count]]] : [children];
    }),
  );
}

function pageOf(result: unknown, name: string): HandlerPage | undefined {
  // Without the holes of an array, over which its methods would step.
  const each: unknown[] = Array.isArray(result) ? Array.from(result) : [result];
  if (!each.every(isObject)) return undefined;
  if (!isLikePage(result)) {
    const texts = each.map((object) => jsonOf(object, name));
    if (!texts.every((text) => text?.startsWith('{'))) return undefined;
    return { count: String(texts.length), objects: `[${texts.join()}]`, rows: texts.length };
  }
  const { count, objects } = result;
  const rows = rowsOf(objects);
  const isCount = typeof count === 'string' && /^(0|[1-9][0-9]*)$/.test(count);
  return isCount && rows !== undefined && rows <= Number(count)
    ? { count, objects, rows }
    : undefined;
}

function isLikePage(value: unknown): value is Page {
  return isObject(value) && 'count' in value && 'objects' in value;
}

/** An object that may have a form in JSON. Others, such as a Map, would come out empty. */
function isObject(value: unknown): value is object {
  return (
    Object.prototype.toString.call(value) === '[object Object]' &&
    !(value instanceof Stream || value instanceof StreamableFile)
  );
}

/** @throws TypeError that names the handler, for an object that JSON cannot say */
function jsonOf(object: object, name: string): string | undefined {
  try {
    return JSON.stringify(object);
  } catch (cause) {
    const [reason] = (cause as Error).message.split('\n', 1);
    throw new TypeError(`${name} answers with what JSON cannot say: ${reason}`, { cause });
  }
}

/** The number of objects in the JSON text of an array; `undefined` for anything else. */
function rowsOf(text: unknown): number | undefined {
  if (typeof text !== 'string') return undefined;
  try {
    const objects: unknown = JSON.parse(text);
    return Array.isArray(objects) && objects.every(isObject) ? objects.length : undefined;
  } catch {
    return undefined;
  }
}

/** What a value is, for the log, which must not tell what it holds. */
function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) {
    const other: unknown = value.find((each) => !isObject(each));
    return other === undefined ? 'a list of what has no JSON' : `a list with ${kindOf(other)}`;
  }
  if (typeof value !== 'object') return `a ${typeof value}`;
  if (isLikePage(value)) {
    return 'count and objects that are no Page, whose count is an integer as text, and whose objects are JSON text';
  }
  return `an object of the class ${value.constructor.name}`;
}
