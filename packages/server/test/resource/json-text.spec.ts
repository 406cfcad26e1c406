import { describe, expect, it } from '@jest/globals';
import { isDouble, JsonText, readJson, readObject } from '#server/resource/json-text.js';
import { Random } from '#server/testing/random.js';

/** How many texts are read. */
const TEXTS = Number(process.env.JSON_TEXTS ?? 2000);

const PIECES = ['{', '}', '[', ']', ':', ',', '"a"', '"b"', '"\\u0041"', '"\\n"', '"\\x"', '"\t"'];
const LITERALS = [
  '1',
  '-0',
  '01',
  '1.',
  '.5',
  '1e5',
  '1.5E-3',
  'true',
  'null',
  'nul',
  '+1',
  '"',
  ' ',
];

/** A text that is JSON or nearly so. */
function text(random: Random, levels: number): string {
  if (random.chance(0.05)) return random.pick([...PIECES, ...LITERALS]);
  const kind = levels === 0 ? 2 : random.below(3);
  if (kind === 2) return random.pick(['"a"', '"\\"é😀"', '""', ...LITERALS.slice(0, 8), 'false']);
  const items = Array.from({ length: random.below(4) }, (_, at) => {
    const item = text(random, levels - 1);
    return kind === 0 ? `"${'abcd'.charAt(at)}" :${item}` : `\n${item}`;
  });
  return kind === 0 ? `{${items.join(',')}}` : `[${items.join(' ,')}]`;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

describe('JSON', () => {
  it('is read as JSON.parse reads it', () => {
    const random = new Random('JSON texts');
    let valid = 0;
    for (let at = 0; at < TEXTS; at += 1) {
      const json = text(random, 4);
      const cell = readJson(json);
      const value = cell instanceof JsonText ? cell.value : cell;
      expect([json, value]).toEqual([json, parsed(json)]);
      if (value !== undefined) valid += 1;
    }
    expect(valid).toBeGreaterThan(TEXTS / 5);
    expect(valid).toBeLessThan(TEXTS);
  });

  it.each([
    ['{"a":100.000000000000001}', false],
    ['[123456789012345.99999]', false],
    ['1e-400', false],
    ['[1e400]', false],
    ['[1234567890123456]', false],
    ['[-123456789012345, 0.10, 1e-7, 0.0000001, -0.0]', true],
  ])('tells whether JavaScript has all digits: %s', (json, isExact) => {
    expect(readJson(json)).toMatchObject({ text: json, isExact });
  });

  it.each(['{"a":1,"a":1}', '[{"a":{"b":1,"\\u0062":2}}]', '{"__proto__":1,"__proto__":1}'])(
    'has no key twice: %s',
    (json) => {
      expect(readJson(json)).toBeUndefined();
    },
  );

  it.each(['/**/1', '1//', '[1,]', '{"a":1,}', '[1]]', '\u00a01', "'a'", ''])(
    'is not %j',
    (text) => {
      expect(readJson(text)).toBeUndefined();
    },
  );

  it.each([
    ['{"a":1,"b":2,"a":3}', 'a', 'has the key "a" twice'],
    ['{"a":1,"b":{"a":1,"c":2,"a":3}}', 'b', 'has the key "a" twice'],
    ['{"a":1,"b" 2}', 'b', 'is not JSON at "2}"'],
  ])('refuses an object by the key in which the fault is: %s', (json, key, message) => {
    expect(() => readObject(json)).toThrow(expect.objectContaining({ key, message }));
  });

  it.each([
    ['0.1', true],
    ['0.10000000000000001', true],
    ['1.000000000000000056e-01', true],
    ['5e-324', true],
    ['5.684341886080802e-14', true],
    ['-0', true],
    ['100.000000000000001', false],
    ['1e-400', false],
    ['1e400', false],
    ['0.100000000000000007', false],
  ])('has the number %s as a double: %s', (number, isExact) => {
    expect(isDouble(number)).toBe(isExact);
  });
});
