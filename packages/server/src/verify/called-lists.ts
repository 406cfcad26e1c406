import type { INestApplicationContext, Type } from '@nestjs/common';
import { DataSource, type EntityMetadata } from 'typeorm';
import { type Endpoint, endpointsOf, pathParametersOf } from '../http/endpoints.js';
import {
  columnsRead,
  type DeclaredParameter,
  type ParameterSettings,
  parametersOf,
  readParameters,
  schemaOf,
  settingsFor,
} from '../http/parameters/declared-parameters.js';
import { comparisonsIn, misfitsIn, readColumns } from '../list/condition/condition.js';
import { Listing, ObjectLookup } from '../list/listing/listing.js';
import { ListQueryDto, ObjectQueryDto } from '../list/query/list-query.dto.js';
import { requireDatabase, WrongEntityError } from '../list/query/query-of.js';
import { sampleOf } from '../resource/column-values.js';
import { nameOf, primaryColumnOf } from '../resource/resource.js';
import type { EntityColumn } from '../resource/visibility.js';
import { Settings } from '../settings/settings.js';

/** A list with one of its own parameters, set to its example. */
export interface FilteredList {
  readonly metadata: EntityMetadata;
  /** The name of a filter, or `sort`. */
  readonly parameter: string;
  /** The list with this parameter. */
  readonly listing: Listing;
}

/** What the handlers of lists and objects return when they are called without a request. */
export interface CalledLists {
  /** Every list, once per filter and for `sort`. Those whose handler throws an error are left out. */
  readonly lists: readonly FilteredList[];
  /** What is wrong with the handlers, and with the conditions of filters, as lines. */
  readonly problems: readonly string[];
}

/** What a handler returns, or throws. */
interface Called {
  /** Absent: something else than a list. */
  readonly listing?: Listing;
  readonly error?: Error;
}

/** Calls a handler with texts of parameters. */
type Call = (...texts: readonly (readonly [parameter: string, text: string])[]) => Promise<Called>;

/**
 * Calls the handlers of objects, and those of lists for each sample of each parameter that not every list has.
 *
 * @param isCalled whether the handler of an endpoint is called; by default, every one is
 */
export async function callLists(
  application: INestApplicationContext,
  isCalled: (endpoint: Endpoint) => boolean = () => true,
): Promise<CalledLists> {
  const settings = settingsFor(application.get(Settings), undefined);
  const dataSource = application.get(DataSource);
  const lists: FilteredList[] = [];
  const problems = new Set<string>();
  for (const endpoint of endpointsOf(application).filter(isCalled)) {
    const { query, path } = endpoint;
    if (!(query.prototype instanceof ObjectQueryDto)) continue;
    const call = await callOf(endpoint, settings, dataSource);
    const plain = await call();
    // Any other error may be for want of a parameter, or of a request.
    if (plain.error instanceof WrongEntityError) {
      problems.add(`${endpoint.name}: ${plain.error.message}`);
      continue;
    }
    if (!(query.prototype instanceof ListQueryDto)) continue;
    for (const { parameter, text, isExample } of samplesOf(query, settings)) {
      const { listing, error } = await call([parameter, text]);
      if (isExample && error) {
        problems.add(`the list at ${path} fails for the example of ${parameter}: ${error.message}`);
      }
      if (!listing) continue;
      if (isExample) lists.push({ metadata: listing.repository.metadata, parameter, listing });
      for (const what of conditionProblems(query, parameter, listing, plain.listing)) {
        problems.add(`the filter ${parameter} at ${path} ${what}`);
      }
    }
  }
  return { lists, problems: [...problems] };
}

async function callOf(
  endpoint: Endpoint,
  settings: ParameterSettings,
  dataSource: DataSource,
): Promise<Call> {
  const { query } = endpoint;
  const handler = await endpoint.handlerFor();
  const params = Object.fromEntries(pathParametersOf(endpoint).map((name) => [name, '1']));
  const call: Call = async (...texts) => {
    try {
      const values = readParameters(query, texts, settings);
      const result: unknown = await handler({ query: values, params });
      if (result instanceof Listing || result instanceof ObjectLookup) {
        requireDatabase(result.repository.metadata, dataSource);
      }
      return result instanceof Listing ? { listing: result } : {};
    } catch (error) {
      return { error: error as Error };
    }
  };
  for (const name of Object.keys(params)) {
    // A text that no handler compares with anything of its own.
    const marker = `the parameter ${name} of a path`;
    params[name] = marker;
    const { listing } = await call();
    const compared = listing && comparisonsIn(listing.repository.metadata, listing.filters);
    const column = compared?.find(({ value }) => value === marker)?.column;
    params[name] = (column && sampleOf(column)) ?? '1';
  }
  return call;
}

interface Sample {
  readonly parameter: string;
  readonly text: string;
  readonly isExample: boolean;
}

/**
 * A text for each parameter that not every list has, and beside this example its greatest and its least value, and all
 * values of an enumeration or a boolean.
 */
function* samplesOf(query: Type<object>, settings: ParameterSettings): Generator<Sample> {
  const ofEveryList = parametersOf(ListQueryDto);
  for (const [parameter, declared] of parametersOf(query)) {
    if (parameter === 'fields' || ofEveryList.has(parameter)) continue;
    const schema = schemaOf(declared, settings);
    const { minimum, maximum, format, type, enum: values = [] } = schema.items ?? schema;
    const bounds = format === 'int64' && type === 'string' ? [INT64_MAXIMUM] : [minimum, maximum];
    const others = [...bounds.filter((bound) => bound !== undefined).map(String), ...values];
    const texts =
      type === 'boolean' ? ['true', 'false'] : [sampleFor(declared, settings), ...others];
    for (const [at, text] of texts.entries()) yield { parameter, text, isExample: at === 0 };
  }
}

const INT64_MAXIMUM = '9223372036854775807';

/** The example of a parameter that is valid now, or any texts if it has none. */
function sampleFor(declared: DeclaredParameter, settings: ParameterSettings): string {
  return declared.example ?? (schemaOf(declared, settings).type === 'array' ? 'a,b' : 'a');
}

/**
 * What is wrong with the condition of a filter, as lines.
 *
 * @param plain the list without it, whose handler may have conditions of its own
 */
function* conditionProblems(
  query: Type<object>,
  parameter: string,
  { repository, filters }: Listing,
  plain: Listing | undefined,
): Generator<string> {
  const { metadata } = repository;
  yield* misfitsIn(metadata, filters);
  const said = columnsRead(query, parameter);
  if (!said) return;
  const read = readColumns(metadata, filters);
  if (!read) {
    if (parametersOf(query).get(parameter)?.reads) {
      yield 'says what it reads, but its condition is SQL, which a client with rights does not get';
    }
    return;
  }
  const others = plain ? readColumns(metadata, plain.filters) : [];
  for (const [entity, property] of read) {
    // An identifier cannot be hidden.
    if (primaryColumnOf(entity as Type)?.propertyName === property) continue;
    const isSame = ([other, name]: EntityColumn): boolean => other === entity && name === property;
    if (said.some(isSame) || others?.some(isSame)) continue;
    const other = metadata.dataSource.getMetadata(entity as Type);
    const column = other === metadata ? property : `${nameOf(other)}.${property}`;
    yield `reads ${column}, which it does not say: name it in reads of its decorator`;
  }
}
