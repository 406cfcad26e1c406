import { isIndexed, TIMES } from '../fields.js';
import {
  includedReferences,
  isArray,
  quoted,
  searchedFields,
  sorts,
  treeFilter,
} from './resource.js';
import { keysOf, samplesOf } from './samples.js';

/**
 * @typedef {import('../fields.js').Field} Field
 * @typedef {import('./resource.js').Resource} Resource
 */

/**
 * A filter and its expected effect.
 *
 * @typedef {object} Trial
 * @property {string} parameter
 * @property {string} value
 * @property {string} keeps the predicate of the objects that it keeps, as TypeScript
 * @property {string | undefined} bad a value that it refuses
 */

/**
 * The test of a resource: its list has 25 objects and must keep what the API promises of every list.
 *
 * @param {Resource} resource
 */
export function spec(resource) {
  const { names, identifier, fields, external } = resource;
  const keys = keysOf(resource.identifierType, names.word.charAt(0));
  const [third, fourth] = [keys.value(3), keys.value(4)];
  const all = [identifier, ...fields.map(({ name }) => name), ...(external ? [] : TIMES)];
  const properties = fields.map(
    (field) => `${field.name}: ${samplesOf(resource, field).expression},\n`,
  );
  const trials = [
    {
      parameter: identifier,
      value: `${third.parameter},${fourth.parameter}`,
      keeps: `(row) => row.${identifier} === ${third.literal} || row.${identifier} === ${fourth.literal}`,
      bad: 'a,,b',
    },
    ...[...fields, ...resource.times].flatMap((field) => trialsOf(resource, field)),
    ...treeTrial(resource),
    ...searchTrial(resource),
  ];
  const includes = includedReferences(resource).map(
    (field) => `${field.name}: '${field.resource ?? ''}'`,
  );
  return `import { describeList } from './list/list-contract.js';

describeList({
  resource: '${names.resource}',
${external ? '  isExternal: true,\n' : ''}${external?.tracked ? '  isTracked: true,\n' : ''}  identifier: '${identifier}',
${resource.identifierType === 'text' ? '' : `  identifierType: ${quoted(resource.identifierType)},\n`}  fields: [${all.map(quoted).join(', ')}],
  sorts: [${sorts(resource).map(quoted).join(', ')}],
${includes.length === 0 ? '' : `  includes: { ${includes.join(', ')} },\n`}  objects: Array.from({ length: 25 }, (_, at) => ({
    ${identifier}: ${keys.expression('at')},
    ${properties.join('    ')}${timesOf(resource)}  })),
  example: {
    ${identifier}: ${keys.value(1).literal},
${fields.map((field) => `    ${field.name}: ${samplesOf(resource, field).example},\n`).join('')}  },
  filters: {
${trials.map(({ parameter, value, keeps, bad }) => `    ${parameter}: { value: '${value}', keeps: ${keeps}${bad === undefined ? '' : `, bad: '${bad}'`} },\n`).join('')}  },
});
`;
}

/** @param {Resource} resource */
function timesOf({ times }) {
  return times.some(({ name }) => name === 'createdAt')
    ? '    createdAt: `2026-01-0${1 + (at % 4)}T00:00:00.000Z`,\n'
    : '';
}

/**
 * The trials of a field's filters.
 *
 * @param {Resource} resource
 * @param {Field} field
 * @returns {Trial[]}
 */
function trialsOf(resource, field) {
  const { name, flags } = field;
  const { values, badOne, badSeveral, bound } = samplesOf(resource, field);
  const row = `row.${name}`;
  return [
    ...(flags.has('several') ? [equality(values, badSeveral)] : []),
    ...(flags.has('exact') ? [equality(values.slice(0, 1), badOne)] : []),
    ...(flags.has('not') ? [exclusion(values, badSeveral)] : []),
    ...(flags.has('exists') ? [existence()] : []),
    // Filters that come with the entity if an index is by this time.
    ...(name === 'createdAt' && isIndexed(flags) && bound
      ? [comparison('createdSince', '>=', bound), comparison('createdUntil', '<', bound)]
      : []),
    // The database sets updatedAt, so no bound of it is known in advance.
    ...(flags.has('interval') && name !== 'updatedAt' && bound
      ? [comparison(`${name}Min`, '>=', bound), comparison(`${name}Max`, '<=', bound)]
      : []),
  ];

  /**
   * @param {readonly import('./samples.js').Value[]} wanted
   * @param {string | undefined} bad
   * @returns {Trial}
   */
  function equality(wanted, bad) {
    const conditions = wanted.map(({ literal }) =>
      isArray(field)
        ? `(${row} as unknown[] | null)?.includes(${literal})`
        : `${row} === ${literal}`,
    );
    return {
      parameter: name,
      value: wanted.map(({ parameter }) => parameter).join(','),
      keeps: `(row) => ${isArray(field) ? `[${conditions.join(', ')}].includes(true)` : conditions.join(' || ')}`,
      bad,
    };
  }

  /**
   * @param {readonly import('./samples.js').Value[]} unwanted
   * @param {string | undefined} bad
   * @returns {Trial}
   */
  function exclusion(unwanted, bad) {
    const conditions = unwanted.map(({ literal }) => `${row} !== ${literal}`);
    return {
      parameter: `${name}Not`,
      value: unwanted.map(({ parameter }) => parameter).join(','),
      keeps: `(row) => ${conditions.join(' && ')}`,
      bad,
    };
  }

  /** @returns {Trial} */
  function existence() {
    const keeps = `(row) => ${row} !== null`;
    return { parameter: `${name}Exists`, value: 'true', keeps, bad: 'yes' };
  }

  /**
   * @param {string} parameter
   * @param {string} operator
   * @param {import('./samples.js').Bound} limit
   * @returns {Trial}
   */
  function comparison(parameter, operator, { parameter: value, literal, read, bad }) {
    const keeps =
      read === 'BigInt'
        ? `(row) => ${row} !== null && BigInt(${row} as string) ${operator} ${literal}`
        : `(row) => ${read}(${row}) ${operator} ${literal} && ${row} !== null`;
    return { parameter, value, keeps, bad };
  }
}

/**
 * The trial of the filter by a tree.
 *
 * @param {Resource} resource
 * @returns {Trial[]}
 */
function treeTrial(resource) {
  const tree = treeFilter(resource);
  if (!tree) return [];
  const field = resource.fields.find(({ flags }) => flags.has('tree'));
  const [root] = field ? samplesOf(resource, field).values : [];
  if (!field || !root) throw new TypeError('A tree has samples');
  const columns = new Set([tree.column, field.name]);
  const conditions = [...columns].map((column) => `row.${column} === ${root.literal}`);
  return [
    {
      parameter: 'within',
      value: root.parameter,
      keeps: `(row) => ${conditions.join(' || ')}`,
      bad: ',',
    },
  ];
}

/**
 * The trial of the search for words.
 *
 * @param {Resource} resource
 * @returns {Trial[]}
 */
function searchTrial(resource) {
  const searched = searchedFields(resource);
  if (searched.length === 0) return [];
  const texts = searched.map((name) => `row.${name}`).join(', ');
  return [
    {
      parameter: 'q',
      value: '2',
      keeps: `(row) => [${texts}].some((text) => String(text).endsWith('2'))`,
      bad: '%20-%20',
    },
  ];
}
