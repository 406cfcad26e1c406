import { describe, expect, it } from '@jest/globals';
import type { EntityMetadata } from 'typeorm';
import { stepsOfCircle } from '#server/import/circle.js';

/** Metadata of resources with references, as `teams.captainID -> players`; a `?` marks one that may be null. */
function resources(references: readonly string[]): (name: string) => EntityMetadata {
  const byName = new Map<string, { tableName: string; foreignKeys: object[] }>();
  const named = (name: string) => {
    const found = byName.get(name) ?? { tableName: name, foreignKeys: [] };
    byName.set(name, found);
    return found;
  };
  for (const reference of references) {
    const [, from = '', propertyName, isNullable, to = ''] =
      /^(\w+)\.(\w+)(\??) -> (\w+)$/.exec(reference) ?? [];
    const columns = [{ propertyName, isNullable: isNullable === '?' }];
    named(from).foreignKeys.push({ columns, referencedEntityMetadata: named(to) });
  }
  return (name) => named(name) as unknown as EntityMetadata;
}

describe('The message of a reference to nothing', () => {
  it.each([
    [
      ['teams.captainID? -> players', 'players.teamID -> teams'],
      ', which refer to teams in turn: first import teams with --set captainID=, then players, then teams without it',
    ],
    [
      ['teams.captainID -> players', 'players.teamID? -> teams'],
      ', which refer to teams in turn: first import players with --set teamID=, then teams, then players without it',
    ],
    [
      ['teams.captainID? -> players', 'players.clubID -> clubs', 'clubs.teamID -> teams'],
      ', which refer to teams in turn: first import teams with --set captainID=, then clubs, players, then teams without it',
    ],
    [['teams.captainID -> players', 'players.teamID -> teams'], ''],
    [['teams.captainID? -> players', 'players.parentID? -> players'], ''],
    [['teams.captainID? -> players'], ''],
  ])('names the steps of a circle: %j', (references, message) => {
    const named = resources(references);
    const [reference] = named('teams').foreignKeys;
    const [column] = reference?.columns ?? [];
    if (!column) throw new Error('teams refer to players');
    expect(stepsOfCircle(named('teams'), column, named('players'))).toBe(message);
  });
});
