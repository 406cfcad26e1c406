/** The text of the module that `generate` writes. */
import { block, interfaceName, key, literal, member, objectType } from './types.js';

/**
 * @typedef {import('./document.js').Json} Json
 * @typedef {import('./document.js').Resource} Resource
 */

/** What a query takes for a text of a format, beside the text. */
const ARGUMENTS = new Map([
  ['date-time', ['Date', 'string']],
  ['decimal', ['number', 'string']],
]);

/**
 * The types of some resources of a document, and a client of them.
 *
 * @param {Json} document
 * @param {readonly Resource[]} resources
 */
export function moduleOf(document, resources) {
  const schemas = [...schemaNames(document, resources)].map((name) => {
    const { properties } = document.components.schemas[name];
    return `export interface ${interfaceName(name)} ${objectType(properties, fieldsOf(properties))}`;
  });
  return `// Written by \`npx @catalogue/client generate\` from the OpenAPI document of the service. Do not edit it.
import {
  type CatalogueOptions,
  Mirror,
  type MirrorFields,
  type MirrorOptions,
  type MirrorStores,
  Resource,
  Transport,
} from '@catalogue/client';

${schemas.join('\n\n')}

/** The types of each resource: of its objects, and of what its methods take. */
export interface Resources ${block(resources.map(typesOf))}

/** A client of the service. It has a property for each resource. */
export class Catalogue ${block([
    ...resources.map(property),
    'readonly #transport: Transport;',
    '',
    `constructor(options: CatalogueOptions) ${block([
      'const transport = new Transport(options);',
      'this.#transport = transport;',
      ...resources.map(assignment),
    ])}`,
    '',
    '/** Copies of some resources, all of one moment. */',
    `mirror<const Fields extends MirrorFields<Resources> = object>(stores: MirrorStores<Resources, Fields>, options: MirrorOptions<Fields>): Mirror ${block(
      [`return new Mirror(this.#transport, stores, options${otherNames(resources)});`],
    )}`,
  ])}
`;
}

/**
 * The names of the schemas that objects are of, and of those that these refer to.
 *
 * @param {Json} document
 * @param {readonly Resource[]} resources
 */
function schemaNames(document, resources) {
  const names = new Set(resources.map(({ object }) => object));
  for (const name of names) {
    const schema = JSON.stringify(document.components.schemas[name]);
    for (const [, other = ''] of schema.matchAll(/"#\/components\/schemas\/([^"]+)"/g))
      names.add(other);
  }
  return names;
}

/**
 * The properties that an object always has: not related objects, and the numbers of several ones.
 *
 * @param {Readonly<Record<string, Json>>} properties
 */
function fieldsOf(properties) {
  const isRelated = (/** @type {string} */ name) => {
    const several = properties[name.replace(/Count$/, '')];
    const related = several?.type === 'array' ? several : properties[name];
    return JSON.stringify(related).includes('"$ref"');
  };
  return Object.keys(properties).filter((name) => !isRelated(name));
}

/** @param {Resource} resource */
function typesOf({ name, identifier, object, query, objectQuery, facetQuery }) {
  return `readonly ${key(propertyName(name))}: ${block([
    `readonly identifier: ${literal(identifier)};`,
    `readonly object: ${interfaceName(object)};`,
    `readonly query: ${queryType(query)};`,
    `readonly objectQuery: ${queryType(objectQuery)};`,
    `readonly facetQuery: ${queryType(facetQuery)};`,
  ])};`;
}

/** @param {Json[] | undefined} parameters */
function queryType(parameters) {
  if (!parameters) return 'never';
  const properties = parameters.map(({ name, description, schema }) => [
    name,
    { ...schema, description, examples: [] },
  ]);
  return objectType(Object.fromEntries(properties), [], ARGUMENTS);
}

/** @param {Resource} resource */
function property({ name, facetQuery }) {
  const type = `Resource<${typesName(name)}>`;
  const present = facetQuery ? type : `Omit<${type}, 'facets'>`;
  return `readonly ${key(propertyName(name))}: ${present};`;
}

/**
 * The names of resources whose properties have other names, as a further argument.
 *
 * @param {readonly Resource[]} resources
 */
function otherNames(resources) {
  const other = resources.filter(({ name }) => propertyName(name) !== name);
  const names = other.map(({ name }) => `${key(propertyName(name))}: ${literal(name)}`);
  return names.length > 0 ? `, { ${names.join(', ')} }` : '';
}

/** @param {Resource} resource */
function assignment({ name, identifier }) {
  const path = [name, identifier].map(literal).join(', ');
  return `this${member(propertyName(name))} = new Resource<${typesName(name)}>(transport, ${path});`;
}

/** @param {string} name */
function typesName(name) {
  return `Resources[${literal(propertyName(name))}]`;
}

/** @param {string} name */
function propertyName(name) {
  return name.replace(/[-_]+(\w)/g, (_, letter) => letter.toUpperCase());
}
