/** The clients that orval generates: one that sends requests, and validators. */
export default {
  fetch: {
    input: 'openapi.json',
    output: {
      client: 'fetch',
      target: 'src/orval-client/client.ts',
      schemas: 'src/orval-client/model',
      // Arrays are texts with commas. By default, orval repeats the parameter.
      override: { fetch: { explode: false } },
    },
  },
  zod: { input: 'openapi.json', output: { client: 'zod', target: 'src/orval-client/zod.ts' } },
};
