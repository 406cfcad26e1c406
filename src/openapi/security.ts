/** The alternatives for credentials: in headers or in the query, not in both. */
export const CREDENTIALS = [
  { 'X-Client-ID': [], Authorization: [] },
  { clientID: [], access_token: [] },
];

/** The credentials, for `components.securitySchemes`. */
export const SECURITY_SCHEMES = {
  'X-Client-ID': {
    type: 'apiKey',
    in: 'header',
    name: 'X-Client-ID',
    description: 'Who asks, beside the header Authorization.',
  },
  Authorization: {
    type: 'http',
    scheme: 'bearer',
    description: 'The access token of the client, an opaque text: RFC 6750.',
  },
  clientID: {
    type: 'apiKey',
    in: 'query',
    name: 'clientID',
    description: 'Who asks, beside the parameter access_token.',
  },
  access_token: {
    type: 'apiKey',
    in: 'query',
    name: 'access_token',
    description:
      'The access token of the client. Query strings end up in logs: prefer the headers.',
  },
};
