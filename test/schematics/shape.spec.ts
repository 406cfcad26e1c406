import { describe, expect, it } from '@jest/globals';
import { SampledShape } from '../../schematics/resource/shape.js';
import { classesOf } from '../../schematics/resource/write/classes.js';

function shapeOf(...values: unknown[]): SampledShape {
  const shape = new SampledShape();
  for (const value of values) shape.add(value, 'field');
  return shape;
}

/** Objects within objects, as many as `levels`. */
function nested(levels: number): object {
  return levels === 1 ? { leaf: 1 } : { in: nested(levels - 1) };
}

describe('The shape of values in JSON', () => {
  it.each<[string, unknown[]]>([
    ['{ a: text, b?: number }', [{ a: 'x', b: 1 }, { a: '' }, { a: 'y', b: 1.5 }]],
    ['{ a?: any }', [{ a: null }, {}]],
    ['{ a: any }', [{ a: 1 }, { a: '1' }]],
    ['{ a: { b?: boolean }[] }', [{ a: [] }, { a: [{ b: true }, {}] }]],
    ['{ a: any, b: any, c: any }', [{ a: [null], b: [[1]], c: [1, 'a'] }]],
    ['any', [{}]],
    ['any', [{ '': 1 }]],
    ['any', [JSON.parse('{"__proto__":1}')]],
    ['any', [{ constructor: 1 }]],
    ['any', [{ a: 1 }, [1]]],
    ['{ a: any }[]', [[{ a: { '\u0000': 1 } }]]],
  ])('is %s', (text, values) => {
    expect(shapeOf(...values).describe()).toBe(text);
  });

  it('has no class for objects whose keys are values, nor for deep ones', () => {
    const days = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`day ${at}`, at]));
    expect([shapeOf(days(50)).hasClass, shapeOf(days(51)).hasClass]).toEqual([true, false]);
    expect(shapeOf(nested(6)).describe()).toContain('leaf: integer');
    expect(shapeOf(nested(8)).describe()).toMatch(/in: any( })+$/);
  });

  it('has no number that JavaScript has rounded', () => {
    expect(() => shapeOf({ a: [{ b: 1e20 }] })).toThrow(
      'field.a[].b has the number 100000000000000000000: put its digits in quotes',
    );
  });

  it('has one class for values that are alike', () => {
    const hours = {
      monday: { open: '9', close: '5' },
      tuesday: { open: null, close: '5' },
      sunday: null,
    };
    const { text, properties, decorators } = classesOf(
      'Store',
      new Map([['hours', shapeOf(hours, { monday: { open: '9', close: '5' } })]]),
      ['StoreHours'],
    );
    expect([...properties]).toEqual([['hours', 'StoreHours2']]);
    expect(decorators).toEqual(expect.arrayContaining(['IsOptional', 'IsString', 'Allow']));
    expect(text.match(/export class \w+/g)).toHaveLength(3);
    const alike = shapeOf({
      monday: { open: '9' },
      tuesday: { open: '8' },
      friday: { open: null },
    });
    expect(classesOf('Store', new Map([['hours', alike]]), []).text).toMatch(
      /^\nexport class StoreHoursEntry {[^}]*open!: string;[^]*monday!: StoreHoursEntry;[^]*tuesday!: StoreHoursEntry;/,
    );
  });
});
