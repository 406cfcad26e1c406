#!/usr/bin/env node
/** `generate`: writes a module with the types of a service and a client of it, from its OpenAPI document. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { resourcesIn } from './document.js';
import { moduleOf } from './module.js';

const USAGE = 'Usage: catalogue-client generate [<file>] [--url <url>]';

/** Milliseconds. */
const TIMEOUT = 10_000;

try {
  const { url, file } = argumentsOf();
  // The rule of the client. A password in it would be in messages.
  if (!/^https?:[^@]+$/.test(url)) throw new Error('The URL must be of http, without @');
  const address = `${url.replace(/\/+$/, '')}/openapi.json`;
  const document = await documentAt(address);
  const resources = resourcesIn(document);
  if (resources.length === 0) throw new Error(`${address} has no resources of a catalogue`);
  await write(file, moduleOf(document, resources));
  console.log(`${file}: ${resources.map(({ name }) => name).join(', ')}`);
} catch (error) {
  console.error(/** @type {Error} */ (error).message);
  process.exitCode = 1;
}

function argumentsOf() {
  const { CATALOGUE_URL = 'http://127.0.0.1:3000' } = process.env;
  const options = /** @type {const} */ ({ url: { type: 'string', default: CATALOGUE_URL } });
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const [command, file = 'src/catalogue.ts', ...others] = positionals;
    if (command === 'generate' && others.length === 0) return { url: values.url, file };
  } catch {
    // An option that there is not.
  }
  throw new Error(USAGE);
}

/**
 * The OpenAPI document of a service: with what the client `CLIENT_ID` may use, if that is set.
 *
 * @param {string} address
 * @returns {Promise<import('./document.js').Json>}
 */
async function documentAt(address) {
  const { CLIENT_ID: clientID, ACCESS_TOKEN: token = '' } = process.env;
  const credentials = { 'X-Client-ID': clientID ?? '', Authorization: `Bearer ${token}` };
  const [{ status }, body] = await answerOf(address, clientID ? credentials : {});
  const document = parsed(body);
  if (status === 200) return document;
  throw new Error(
    `${address} answers ${[status, document.result?.msg].filter(Boolean).join(': ')}`,
  );
}

/**
 * @param {string} address
 * @param {Record<string, string>} headers
 */
async function answerOf(address, headers) {
  try {
    const response = await fetch(address, { headers, signal: AbortSignal.timeout(TIMEOUT) });
    return /** @type {const} */ ([response, await response.text()]);
  } catch (error) {
    // Of several addresses, the cause has a code alone.
    const { message, cause } = /** @type {Error & { cause?: Error & { code?: string } }} */ (error);
    const reason = cause?.message || cause?.code || message;
    throw new Error(`${address} cannot be reached: ${reason}`, { cause: error });
  }
}

/**
 * @param {string} body
 * @returns {import('./document.js').Json} of another answer than an object in JSON, none
 */
function parsed(body) {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}

/**
 * @param {string} file
 * @param {string} text
 */
async function write(file, text) {
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  } catch (error) {
    const { message } = /** @type {Error} */ (error);
    throw new Error(`${file} cannot be written: ${message}`, { cause: error });
  }
}
