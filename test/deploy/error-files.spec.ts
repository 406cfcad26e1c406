import { describe, expect, it } from '@jest/globals';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { type ApiError, errors } from '../../src/http/errors.js';
import { COMMON_HEADERS } from '../../src/http/server/common-headers.js';
import { unparsedResponse } from '../../src/http/server/unparsed.js';

/** The error responses that replace HAProxy's own, by the name of their file. */
const REFUSALS: Readonly<Record<string, ApiError>> = {
  400: errors.malformed(),
  414: errors.tooLarge(),
  431: errors.tooLarge().withStatus(431),
  500: errors.internal(),
  502: errors.unavailable(),
  504: errors.tookTooLong(),
};

/** The file for each status of HAProxy. */
const FILES: Readonly<Record<string, string>> = {
  400: '400',
  // The preface of HTTP/2.
  405: '400',
  // An incomplete request; the service responds with the same error.
  408: '400',
  // A body in a GET request of HTTP/1.0.
  413: '400',
  414: '414',
  // An unknown Transfer-Encoding.
  422: '400',
  431: '431',
  500: '500',
  501: '400',
  // The instance ended during a request.
  502: '502',
  // No instance is ready.
  503: '502',
  504: '504',
};

/** An error response without a request id, since no log line would have it. */
const response = (error: ApiError): string => unparsedResponse(error, COMMON_HEADERS);

describe('The error files of HAProxy', () => {
  it.each(Object.entries(REFUSALS))('%s.http is the refusal of the table', async (code, error) => {
    const path = `deploy/errors/${code}.http`;
    if (process.env.ERROR_FILES === 'write') await writeFile(path, response(error));
    expect(await readFile(path, 'latin1')).toBe(response(error));
  });

  it('are these and no others, and the configuration names each', async () => {
    const files = Object.keys(REFUSALS).map((code) => `${code}.http`);
    expect((await readdir('deploy/errors')).sort()).toEqual(files);
    const configuration = await readFile('deploy/haproxy.cfg', 'utf8');
    const named = [...configuration.matchAll(/^ +errorfile (\d+) errors\/(.+)$/gm)];
    expect(Object.fromEntries(named.map(([, code, file]) => [code, file]))).toEqual(
      Object.fromEntries(Object.entries(FILES).map(([code, file]) => [code, `${file}.http`])),
    );
  });
});
