import type { EntityMetadata } from 'typeorm';
import { declaredColumns } from './declaration.js';
import { isBroad, singleCountedColumnsOf } from './resource.js';

/** Intervals of which there is no tally, or that it would count twice or could not name. */
export function intervalProblems(metadata: EntityMetadata): string[] {
  const { name: entity } = metadata;
  const { sorted, intervals: declared } = declaredColumns(metadata);
  const always = singleCountedColumnsOf(metadata).filter((name) => isBroad(metadata, name));
  const intervals = declared.map(({ of, within }) => ({
    of,
    within,
    text: `${entity} counts intervals of ${of} within ${named(within)}`,
  }));
  return [
    ...intervals
      .filter(({ of }) => !sorted.includes(of))
      .map(({ of, text }) => `${text}, but ${of} is not in its sorted columns`),
    ...repeated(intervals.map(({ of, within }) => `${of} within ${inOneOrder(within)}`)).map(
      (text) => `${entity} counts intervals of ${text} twice`,
    ),
    ...intervals
      .filter(({ within: [name, ...others] }) => always.includes(name) && others.length === 0)
      .map(
        ({ text }) =>
          `${text} twice: those of a sorted column within a counted enumeration or boolean are always counted`,
      ),
    ...intervals
      .filter(({ of, within }) => within.length === 0 || hasRepetition([...within, of]))
      .map(({ text }) => text),
  ];
}

/** What the tally would count twice, or could not name. */
export function countedProblems(metadata: EntityMetadata): string[] {
  const { name: entity } = metadata;
  const { counted: all } = declaredColumns(metadata);
  return [
    ...repeated(all.map(inOneOrder)).map((names) => `${entity} counts ${names} twice`),
    ...all
      .filter((names) => names.length === 0 || hasRepetition(names))
      .map((names) => `${entity} counts a combination of ${named(names)}`),
  ];
}

function named(columns: readonly string[]): string {
  return columns.join(' and ') || 'no columns';
}

/** The columns in one order, since in another one they have the same objects. */
function inOneOrder(columns: readonly string[]): string {
  return named(columns.toSorted());
}

/** The texts that come more than once, each once. */
function repeated(texts: readonly string[]): string[] {
  return [...new Set(texts.filter((text, at) => texts.indexOf(text) !== at))];
}

function hasRepetition(names: readonly string[]): boolean {
  return new Set(names).size < names.length;
}
