import { quoted, searchedFields, sorts } from './resource.js';

/**
 * @typedef {import('../fields.js').Field} Field
 * @typedef {import('./resource.js').Resource} Resource
 */

/**
 * A filter as the test tries it.
 *
 * @typedef {object} Trial
 * @property {string} parameter
 * @property {string} value
 * @property {string} keeps the condition that its objects meet
 * @property {string | undefined} bad a value that is refused
 */

/**
 * The test of a resource: 25 objects, held to what is promised of every list.
 *
 * @param {Resource} resource
 */
export function spec(resource) {
  const { names, identifier, fields } = resource;
  const initial = names.word.charAt(0);
  const all = [identifier, ...fields.map(({ name }) => name), 'createdAt', 'updatedAt'];
  const properties = fields.map((field) => `${field.name}: ${sample(resource, field)},\n`);
  const trials = [
    {
      parameter: identifier,
      value: `${initial}3,${initial}4`,
      keeps: `(row) => row.${identifier} === '${initial}3' || row.${identifier} === '${initial}4'`,
      bad: 'a,,b',
    },
    ...[...fields, ...resource.times].flatMap((field) => trialsOf(resource, field)),
    ...searchTrial(resource),
  ];
  return `import { describeList } from './list/list-contract.js';

describeList({
  resource: '${names.resource}',
  identifier: '${identifier}',
  fields: [${all.map(quoted).join(', ')}],
  sorts: [${sorts(resource).map(quoted).join(', ')}],
  objects: Array.from({ length: 25 }, (_, at) => ({
    ${identifier}: \`${initial}\${at}\`,
    ${properties.join('    ')}${timesOf(resource)}  })),
  example: {
    ${identifier}: '${initial}1',
${fields.map((field) => `    ${field.name}: ${exampleOf(resource, field)},\n`).join('')}  },
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
 * The expression of a field of the object \`at\`.
 *
 * @param {Resource} resource
 * @param {Field} field
 */
function sample(resource, field) {
  const { names, targets } = resource;
  const { flags } = field;
  if (isOwn(resource, field)) {
    // A tree of which the first are the roots.
    return `at < 4 ? null : \`${names.word.charAt(0)}\${at % 4}\``;
  }
  return flags.has('null') ? `at % 5 === 0 ? null : ${value()}` : value();

  function value() {
    switch (field.type) {
      case 'text':
        return `\`${textBefore(field)}\${at % 4}\``;
      case 'integer':
        return 'at % 4';
      case 'decimal':
        return '`${at % 4}.50`';
      case 'boolean':
        return 'at % 2 === 0';
      case 'date-time':
        return '`2026-01-0${1 + (at % 4)}T00:00:00.000Z`';
      case 'enum':
        return `[${(field.values ?? []).map(quoted).join(', ')}][at % ${field.values?.length}]`;
      case 'reference':
        return `\`${targets.get(field.resource ?? '')?.word ?? ''}-\${at % 3}\``;
      case 'json':
        return `{ at, list: [at % 4, null, 'Größe'] }`;
    }
  }
}

/**
 * The same of the object 1, as the list answers with it.
 *
 * @param {Resource} resource
 * @param {Field} field
 */
function exampleOf(resource, field) {
  if (isOwn(resource, field)) return 'null';
  switch (field.type) {
    case 'text':
      return `'${textBefore(field)}1'`;
    case 'integer':
      return '1';
    case 'decimal':
      return `'1.50'`;
    case 'boolean':
      return 'false';
    case 'date-time':
      return `'2026-01-02T00:00:00.000Z'`;
    case 'enum':
      return `'${field.values?.[1]}'`;
    case 'reference':
      return `'${resource.targets.get(field.resource ?? '')?.word ?? ''}-1'`;
    case 'json':
      return `{ at: 1, list: [1, null, 'Größe'] }`;
  }
}

/**
 * What a text has before its digit, if there is room.
 *
 * @param {Field} field
 */
function textBefore({ name, length = 0 }) {
  return length > name.length + 1 ? `${name} ` : '';
}

/**
 * Whether a field refers to the resource itself.
 *
 * @param {Resource} resource
 * @param {Field} field
 */
function isOwn({ names }, field) {
  return field.type === 'reference' && field.resource === names.resource;
}

/**
 * @param {Resource} resource
 * @param {Field} field
 * @returns {Trial[]}
 */
function trialsOf(resource, field) {
  const { name, type, flags } = field;
  const row = `row.${name}`;
  // When an object was changed the database says itself.
  const isBounded = flags.has('range') && name !== 'updatedAt';
  const bounds = isBounded ? [bound(`${name}Min`, '>='), bound(`${name}Max`, '<=')] : [];
  if (flags.has('several')) {
    const [one, other] = severalOf(resource, field);
    return [
      {
        parameter: name,
        value: other === undefined ? one : `${one},${other}`,
        keeps: keepsOf([one, other]),
        bad: type === 'enum' ? 'nonsense' : ',',
      },
    ];
  }
  if (!flags.has('exact')) return bounds;
  switch (type) {
    case 'integer':
      return [{ parameter: name, value: '2', keeps: equals('2'), bad: 'abc' }, ...bounds];
    case 'decimal':
      return [{ parameter: name, value: '2.5', keeps: equals(`'2.50'`), bad: '1e3' }, ...bounds];
    case 'boolean':
      return [{ parameter: name, value: 'true', keeps: equals('true'), bad: 'yes' }];
    default: {
      const [one] = severalOf(resource, field);
      return [
        {
          parameter: name,
          value: one,
          keeps: keepsOf([one]),
          bad: type === 'enum' ? 'nonsense' : undefined,
        },
      ];
    }
  }

  /**
   * @param {string} parameter
   * @param {string} comparison
   * @returns {Trial}
   */
  function bound(parameter, comparison) {
    const [value, compared, bad] =
      type === 'date-time'
        ? [
            '2026-01-02T00:00:00Z',
            `String(${row}) ${comparison} '2026-01-02T00:00:00.000Z'`,
            'yesterday',
          ]
        : ['2', `Number(${row}) ${comparison} 2`, 'abc'];
    return { parameter, value, keeps: `(row) => ${compared} && ${row} !== null`, bad };
  }

  /** @param {string} literal */
  function equals(literal) {
    return `(row) => ${row} === ${literal}`;
  }

  /** @param {readonly (string | undefined)[]} values */
  function keepsOf([one, other]) {
    return `${equals(`'${one}'`)}${other === undefined ? '' : ` || ${row} === '${other}'`}`;
  }
}

/**
 * One value of a field that some of the objects have, and perhaps another.
 *
 * @param {Resource} resource
 * @param {Field} field
 * @returns {[string, string?]}
 */
function severalOf(resource, field) {
  if (field.type === 'enum') return [field.values?.[0] ?? ''];
  if (isOwn(resource, field)) return [`${resource.names.word.charAt(0)}1`];
  if (field.type === 'reference')
    return [`${resource.targets.get(field.resource ?? '')?.word ?? ''}-1`];
  return [`${textBefore(field)}1`, `${textBefore(field)}2`];
}

/**
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
