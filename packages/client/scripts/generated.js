/** The text of `src/generated.ts`, the types and the resources of the client, from an OpenAPI document. */
import openapiTS, { astToString } from 'openapi-typescript';
import prettier from 'prettier';
import ts from 'typescript';

/** The file that has the text. */
export const FILE = new URL('../src/generated.ts', import.meta.url);

/**
 * A resource as the document describes it.
 *
 * @typedef {object} Resource
 * @property {string} name the first segment of its path
 * @property {string} identifier
 * @property {string} object the name of its schema
 * @property {string} [deletion] the name of the schema of its deletions, if it lists them
 * @property {boolean} isFaceted
 */

/**
 * @param {any} document
 * @returns {Resource[]} in the order of the document
 */
export function resourcesIn(document) {
  return Object.keys(document.paths).flatMap((path) => {
    const [, name, identifier] = /^\/([^/]+)\/\{([^/]+)\}$/.exec(path) ?? [];
    if (name === undefined || identifier === undefined || !isList(document, `/${name}`)) return [];
    const [deletions, facets] = [`/deletions/${name}`, `/facets/${name}`];
    return {
      name,
      identifier,
      object: schemaNameOf(document, `/${name}`),
      deletion: deletions in document.paths ? schemaNameOf(document, deletions) : undefined,
      isFaceted: facets in document.paths,
    };
  });
}

/**
 * The text of `src/generated.ts`.
 *
 * @param {any} document
 * @param {Resource[]} resources
 * @returns {Promise<string>}
 */
export async function generate(document, resources) {
  const schemas = Object.fromEntries(resources.flatMap((each) => schemasOf(document, each)));
  const nodes = await openapiTS(
    { openapi: '3.1.0', info: { title: '', version: '' }, components: { schemas } },
    { immutable: true, alphabetize: false, transform: argumentType },
  );
  const types = astToString(interfacesIn(nodes)).replaceAll(
    /components\["schemas"\]\["(\w+)"\]/g,
    '$1',
  );
  const text = `
    // Written by \`npm run generate\` from the OpenAPI document of the service. Do not edit it.
    import { Resource } from './resource.js';
    import type { Transport } from './transport.js';

    ${types}

    /** The resources of the service. */
    export class Resources {
      ${resources.map(property).join('\n')}

      constructor(transport: Transport) {
        ${resources.map(assignment).join('\n')}
      }
    }
  `;
  const options = await prettier.resolveConfig(FILE);
  return prettier.format(text, { ...options, parser: 'typescript' });
}

/** @param {Resource} resource */
function property({ name, identifier, object, deletion, isFaceted }) {
  const types = `{
    identifier: '${identifier}'; object: ${object}; query: ${object}ListQuery; objectQuery: ${object}Query;
    deletion: ${deletion ?? 'never'};
    deletionQuery: ${deletion ? `${deletion}ListQuery` : 'never'};
    facetQuery: ${isFaceted ? `${object}FacetQuery` : 'never'};
  }`;
  const missing = [...(isFaceted ? [] : ['facets']), ...(deletion ? [] : ['deletions', 'mirror'])];
  const type = missing.reduce(
    (whole, method) => `Omit<${whole}, '${method}'>`,
    `Resource<${types}>`,
  );
  return `readonly ${propertyName(name)}: ${type};`;
}

/** @param {Resource} resource */
function assignment({ name, identifier }) {
  return `this.${propertyName(name)} = new Resource(transport, '${name}', '${identifier}');`;
}

/** @param {string} name */
function propertyName(name) {
  return name.replace(/[-_]+(\w)/g, (_, letter) => letter.toUpperCase());
}

/**
 * The schemas that become interfaces: objects as they are without `fields`, and queries.
 *
 * @param {any} document
 * @param {Resource} resource
 */
function schemasOf(document, { name, identifier, object, deletion, isFaceted }) {
  return [
    [object, complete(document.components.schemas[object])],
    [`${object}ListQuery`, queryOf(document, `/${name}`)],
    [`${object}Query`, queryOf(document, `/${name}/{${identifier}}`)],
    ...(deletion
      ? [
          [deletion, complete(document.components.schemas[deletion])],
          [`${deletion}ListQuery`, queryOf(document, `/deletions/${name}`)],
        ]
      : []),
    ...(isFaceted ? [[`${object}FacetQuery`, queryOf(document, `/facets/${name}`)]] : []),
  ];
}

/**
 * An object that has all its fields. Related objects, which are references, it may have, and the numbers of several ones.
 *
 * @param {any} schema
 */
function complete({ properties }) {
  const isRelated = (/** @type {string} */ name) => {
    const several = properties[name.replace(/Count$/, '')];
    return JSON.stringify(several?.type === 'array' ? several : properties[name]).includes(
      '"$ref"',
    );
  };
  const fields = Object.keys(properties).filter((name) => !isRelated(name));
  return { type: 'object', properties, required: fields, additionalProperties: false };
}

/**
 * The query parameters of a `GET` as an object.
 *
 * @param {any} document
 * @param {string} path
 */
function queryOf(document, path) {
  const parameters = parametersOf(document, path);
  return {
    type: 'object',
    properties: Object.fromEntries(parameters.map((each) => asProperty(document, each))),
    required: parameters.filter(({ required }) => required).map((parameter) => parameter.name),
    additionalProperties: false,
  };
}

/**
 * @param {any} document
 * @param {any} parameter
 */
function asProperty(document, { name, description, schema }) {
  const { items, ...single } = resolved(document, schema);
  const array = items && { items: argumentOf(resolved(document, items)) };
  return [name, { description, ...argumentOf(single), ...array }];
}

/** What a query takes for a text of this format, beside the text. */
const ARGUMENTS = new Map([
  ['date-time', 'Date'],
  ['decimal', 'number'],
]);

/**
 * A value of a query. Its key `argument` is for `argumentType`.
 *
 * @param {any} schema
 */
function argumentOf({ type, enum: values, format }) {
  return { type, enum: values, argument: ARGUMENTS.get(format) };
}

/**
 * The type of a value of a query, where it is not that of the schema.
 *
 * @param {any} schema
 */
function argumentType({ argument }) {
  if (argument === undefined) return undefined;
  const names = [argument, 'string'];
  return ts.factory.createUnionTypeNode(
    names.map((name) => ts.factory.createTypeReferenceNode(name)),
  );
}

/**
 * The query parameters of a `GET`.
 *
 * @param {any} document
 * @param {string} path
 * @returns {any[]}
 */
function parametersOf(document, path) {
  const { parameters } = document.paths[path].get;
  return parameters
    .map((/** @type {any} */ parameter) => resolved(document, parameter))
    .filter((/** @type {any} */ parameter) => parameter.in === 'query');
}

/**
 * @param {any} document
 * @param {string} path
 */
function isList(document, path) {
  return (
    path in document.paths && parametersOf(document, path).some(({ name }) => name === 'limit')
  );
}

/**
 * The name of the schema of the objects of a list.
 *
 * @param {any} document
 * @param {string} path
 */
function schemaNameOf(document, path) {
  const { responses } = document.paths[path].get;
  const response = resolved(document, responses[200]);
  const page = resolved(document, response.content['application/json'].schema);
  const data = resolved(document, page.properties.response_data);
  return data.properties.objects.items.$ref.split('/').at(-1);
}

/**
 * What a reference of the document leads to.
 *
 * @param {any} document
 * @param {any} value
 */
function resolved(document, value) {
  if (!value.$ref) return value;
  const [, ...path] = value.$ref.split('/');
  return path.reduce(
    (/** @type {any} */ within, /** @type {string} */ name) => within[name],
    document,
  );
}

/**
 * An interface for each schema, in place of the one interface for all components.
 *
 * @param {ts.Node[]} nodes
 */
function interfacesIn(nodes) {
  const components = nodes.find(
    (node) => ts.isInterfaceDeclaration(node) && node.name.text === 'components',
  );
  const schemas = membersOf(components).find(({ name }) => name.text === 'schemas');
  return membersOf(schemas.type).map((member) => {
    const declaration = ts.factory.createInterfaceDeclaration(
      [ts.factory.createModifier(ts.SyntaxKind.ExportKeyword)],
      member.name,
      undefined,
      undefined,
      membersOf(member.type),
    );
    const comments = ts.getSyntheticLeadingComments(member);
    return ts.setSyntheticLeadingComments(declaration, comments);
  });
}

/**
 * @param {any} node
 * @returns {any[]}
 */
function membersOf(node) {
  return [...node.members];
}
