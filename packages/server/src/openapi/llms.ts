import type { Type } from '@nestjs/common';
import { readFileSync } from 'node:fs';
import type { EntityMetadata } from 'typeorm';
import { NON_FILTERS } from '../list/condition/filters.js';
import { searchParameterOf } from '../list/query/search-text.js';
import { references } from '../resource/relations.js';
import { type DescribedEndpoint, namesIn } from './described-endpoint.js';
import { exampleText, parameterObjects } from './operation.js';
import { type Json, resourceSchema } from './schema.js';

/** Requests of `/llms.txt`, and the most objects of each. */
const REQUESTS = 10;
const FEW = 3;

/** Texts by the words that they stand for. */
type Words = Readonly<Record<string, string | undefined>>;

/**
 * What `/llms.txt` answers, after https://llmstxt.org: `llms.md` with the words of the lists, whose requests are valid as
 * they are.
 */
export function llmsText(endpoints: readonly DescribedEndpoint[], isPublic: boolean): string {
  const words = listsIn(endpoints).map((list) => wordsOf(list, endpoints, isPublic));
  const text = readFileSync(new URL('llms.md', import.meta.url), 'utf8');
  const [head = '', requests = '', resources = ''] = text.split(/^## Re.*\n+/m);
  /** The lines of a part for each list, without those for which it lacks a word. */
  const linesOf = (part: string): string[] =>
    words.flatMap((each) =>
      part
        .trim()
        .split('\n')
        .flatMap((line) => filled(line, each) ?? []),
    );
  return [
    filled(head.trimEnd(), { lists: words.map(({ list }) => list).join(', ') }),
    ...['\n## Requests\n', ...linesOf(requests).slice(0, REQUESTS)],
    ...['\n## Resources\n', ...linesOf(resources), ''],
  ].join('\n');
}

/** A text with words in place of `{…}`; `undefined` if it lacks one. */
function filled(template: string, words: Words): string | undefined {
  const parts = template.split(/\{(\w+)\}/).map((each, at) => (at % 2 === 0 ? each : words[each]));
  return parts.includes(undefined) ? undefined : parts.join('');
}

/** What `/llms-full.txt` answers: what applies to all endpoints, and the parameters and fields of each list. */
export function llmsFullText(endpoints: readonly DescribedEndpoint[], overview: string): string {
  const lists = listsIn(endpoints).map((list) => {
    const { properties } = resourceSchema(list.metadata, list.columns, namesIn(list, 'include'));
    const fields = Object.entries(properties as Record<string, Json>);
    return [
      `## GET ${list.path}\n\nParameters:\n\n${parameterObjects(list).map(lineOf).join('\n')}`,
      `Fields:\n\n${fields.map(([name, schema]) => lineOf({ ...schema, name, schema })).join('\n')}`,
    ].join('\n\n');
  });
  return `${['# Catalogue', overview.trim(), ...lists].join('\n\n')}\n`;
}

/** A parameter or a field with its meaning, and its values or one of them. */
function lineOf({ name, description = '', schema }: Json): string {
  const { items, enum: values = (items as Json | undefined)?.enum, examples = [] } = schema as Json;
  const known = (values ?? examples) as readonly unknown[];
  const which = known.length > 0 ? ` ${values ? 'Of' : 'Such as'} \`${known.join('`, `')}\`.` : '';
  return `- \`${name as string}\`: ${description as string}${which}`;
}

type List = DescribedEndpoint & { readonly metadata: EntityMetadata };

/** The lists of resources, those with most parameters first. */
function listsIn(endpoints: readonly DescribedEndpoint[]): List[] {
  return endpoints
    .filter((each): each is List => each.kind === 'list' && each.metadata !== undefined)
    .filter(({ template }) => !template.includes('{'))
    .toSorted((a, b) => b.parameters.length - a.parameters.length);
}

/** What stands in place of the words in `llms.md`. What a list lacks has none. */
function wordsOf(list: List, endpoints: readonly DescribedEndpoint[], isPublic: boolean): Words {
  const named = new Map(list.parameters.map((each) => [each.name, each]));
  const examples = new Map(list.parameters.map((each) => [each.name, exampleText(list, each)]));
  /** The first two of some filters that have an example, and what they mean. */
  const asked = (word: string, ...filters: readonly string[]): Words => {
    const known = [...new Set(filters)]
      .filter((name) => examples.get(name) !== undefined)
      .slice(0, 2);
    const values = known.map((name): [string, string] => [name, examples.get(name) ?? '']);
    const meanings = known.map((name) => named.get(name)?.meaning.split(/\.(?: |$)/, 1)[0]);
    return {
      [word]: new URLSearchParams(values).toString().replaceAll('%2C', ',') || undefined,
      [`${word}Means`]: meanings.join('. '),
    };
  };
  const identifier = list.metadata.primaryColumns[0]?.propertyName ?? '';
  const fields = list.columns.map(({ propertyName }) => propertyName);
  const filters = [...named.keys()].filter((name) => !NON_FILTERS.has(name));
  const [sorts, include] = [namesIn(list, 'sort'), namesIn(list, 'include')];
  const counts = endpoints.find(({ path }) => path === `/facets${list.path}`);
  const { default: preset = [] } =
    counts?.parameters.find(({ name }) => name === 'facets')?.schema ?? {};
  const counted = preset as readonly string[];
  const exact = [...counted, ...fields].filter(
    (name) => name !== identifier && fields.includes(name),
  );
  const related = references(list.metadata.target as Type);
  const reference = counted.find((name) => fields.includes(name) && related.has(name));
  return {
    list: list.path.slice(1),
    few: String(Math.min(FEW, named.get('limit')?.schema.maximum ?? FEW)),
    ...asked('exact', ...exact),
    ...asked('bound', ...filters.filter((name) => name.endsWith('Min')).slice(0, 1)),
    ...asked('search', searchParameterOf(list.query.prototype as object) ?? ''),
    relevance: sorts.includes('relevance') ? '&sort=relevance' : '',
    order: examples.get('sort'),
    counted: counted.slice(0, 2).join() || undefined,
    reference,
    beginning: examples.get(reference ?? '')?.slice(0, 2),
    ...asked('identified', identifier),
    with: include.length > 0 ? `&include=${include.join()}` : '',
    ...asked('since', 'updatedSince'),
    stream: isPublic
      ? ''
      : '; with `Accept: application/x-ndjson`, one a line. `changes` has what was deleted, too',
    fields: fields.join(', '),
    filters: filters.join(', ') || undefined,
    sort: sorts.filter((name) => !name.startsWith('-')).join(', ') || undefined,
    include: include.join(', ') || undefined,
    facets: (counts ? namesIn(counts, 'facets') : []).join(', ') || undefined,
  };
}
