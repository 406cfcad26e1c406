import type { EntityMetadata } from 'typeorm';
import { declaredColumns } from './declaration.js';

/** Intervals of which there is no tally, or that it would count twice or could not name. */
export function* intervalProblems(metadata: EntityMetadata): Generator<string> {
  const { name: entity } = metadata;
  const { sorted, intervals } = declaredColumns(metadata);
  const textOf = ({ of, within }: (typeof intervals)[number]): string =>
    `${entity} counts intervals of ${of}${within ? ` within ${named(within)}` : ''}`;
  for (const each of intervals)
    if (!sorted.includes(each.of))
      yield `${textOf(each)}, but ${each.of} is not in its sorted columns`;
  for (const text of repeated(
    intervals.map(({ of, within }) => (within ? `${of} within ${inOneOrder(within)}` : of)),
  ))
    yield `${entity} counts intervals of ${text} twice`;
  for (const each of intervals)
    if (each.within && each.within.length < 2)
      yield `${textOf(each)}, but every counted column is counted by itself: name a combination, or none`;
    else if (hasRepetition([...(each.within ?? []), each.of])) yield textOf(each);
}

/** What the tally would count twice, or could not name. */
export function* countedProblems(metadata: EntityMetadata): Generator<string> {
  const { name: entity } = metadata;
  const { counted, intervals } = declaredColumns(metadata);
  for (const names of repeated(counted.map(inOneOrder))) yield `${entity} counts ${names} twice`;
  for (const names of counted)
    if (names.length === 0 || hasRepetition(names))
      yield `${entity} counts a combination of ${named(names)}`;
  for (const name of [...counted, ...intervals.map(({ within = [] }) => within)].flat())
    if (metadata.findColumnWithPropertyName(name)?.isArray)
      yield `${entity} counts a combination with ${name}, an array, whose items are counted by themselves`;
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
