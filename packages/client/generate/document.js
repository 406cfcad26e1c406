/** The resources that the OpenAPI document of a service describes. */

/** @typedef {Readonly<Record<string, any>>} Json a part of the document */

/**
 * @typedef {object} Resource
 * @property {string} name the first segment of its paths
 * @property {string} identifier the field that identifies an object
 * @property {string} object the name of the schema of its objects
 * @property {Json[]} query the parameters of its list
 * @property {Json[]} objectQuery those of a single object
 * @property {Json[] | undefined} facetQuery the parameters of its facets, if it has them
 */

/**
 * @param {Json} document any JSON
 * @returns {Resource[]} in the order of the document; none if it is not of a catalogue
 */
export function resourcesIn(document) {
  return Object.keys(document.paths ?? {}).flatMap((path) => {
    const [, name = '', identifier = ''] = /^\/([^/]+)\/\{([^/]+)\}$/.exec(path) ?? [];
    const object = schemaOfList(document, `/${name}`);
    if (object === undefined) return [];
    return {
      name,
      identifier,
      object,
      query: queryOf(document, `/${name}`) ?? [],
      objectQuery: queryOf(document, path) ?? [],
      facetQuery: queryOf(document, `/facets/${name}`),
    };
  });
}

/**
 * The query parameters of a `GET`; `undefined` if there is none.
 *
 * @param {Json} document
 * @param {string} path
 * @returns {Json[] | undefined}
 */
function queryOf(document, path) {
  /** @type {Json[] | undefined} */
  const parameters = document.paths[path]?.get?.parameters;
  return parameters?.map((each) => resolved(document, each)).filter((each) => each.in === 'query');
}

/**
 * The name of the schema of the objects of a list; `undefined` if the path is not one.
 *
 * @param {Json} document
 * @param {string} path
 * @returns {string | undefined}
 */
function schemaOfList(document, path) {
  if (!queryOf(document, path)?.some(({ name }) => name === 'limit')) return undefined;
  const response = resolved(document, document.paths[path].get.responses?.[200]);
  const page = resolved(document, response.content?.['application/json']?.schema);
  const data = resolved(document, page.properties?.response_data);
  return data.properties?.objects?.items?.$ref?.split('/').at(-1);
}

/**
 * What a reference of the document leads to, or the part itself.
 *
 * @param {Json} document
 * @param {Json | undefined} part
 * @returns {Json}
 */
function resolved(document, part = {}) {
  if (typeof part.$ref !== 'string') return part;
  const [, ...path] = part.$ref.split('/');
  return path.reduce((within, name) => within?.[name], document) ?? {};
}
