export { embeddedServer } from './src/embedded-server.js';
export { EmbeddedPostgresError } from './src/errors.js';
