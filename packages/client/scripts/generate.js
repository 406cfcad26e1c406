/**
 * Writes `src/generated.ts`, the types and the resources of the client, from the OpenAPI document of the
 * service at `CATALOGUE_URL`.
 */
import { writeFile } from 'node:fs/promises';
import { FILE, generate, resourcesIn } from './generated.js';

const { CATALOGUE_URL = 'http://127.0.0.1:3000' } = process.env;
const response = await fetch(`${CATALOGUE_URL}/openapi.json`);
if (!response.ok) throw new Error(`${response.url} answers ${response.status}`);
const document = await response.json();
await writeFile(FILE, await generate(document, resourcesIn(document)));
