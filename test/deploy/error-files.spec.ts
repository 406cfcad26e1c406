import { describe, expect, it } from '@jest/globals';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { type ApiError, errors } from '#server/http/errors.js';
import { COMMON_HEADERS } from '#server/http/server/headers.js';
import { unparsedResponse } from '#server/http/server/enveloped-server.js';

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

/** The error responses of rules that leave the connection open. */
const DENIALS: Readonly<Record<string, ApiError>> = { busy: errors.busy() };

/** An error response without a request id, since no log line would have it. */
const response = (error: ApiError): string => unparsedResponse(error, COMMON_HEADERS);

const CONTENTS = Object.entries({
  ...mapped(REFUSALS, response),
  ...mapped(DENIALS, (error) => response(error).replace('Connection: close\r\n', '')),
});

function mapped<From, To>(
  values: Readonly<Record<string, From>>,
  by: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, by(value)]));
}

describe('The error files of HAProxy', () => {
  it.each(CONTENTS)('%s.http is the refusal of the table', async (name, content) => {
    const path = `deploy/errors/${name}.http`;
    if (process.env.ERROR_FILES === 'write') await writeFile(path, content);
    expect(await readFile(path, 'latin1')).toBe(content);
  });

  it('are these and no others, and the configuration names each', async () => {
    const files = CONTENTS.map(([name]) => `${name}.http`);
    expect((await readdir('deploy/errors')).sort()).toEqual(files);
    const configuration = await readFile('deploy/haproxy.cfg', 'utf8');
    const named = [...configuration.matchAll(/^ +errorfile (\d+) errors\/(.+)$/gm)];
    expect(Object.fromEntries(named.map(([, code, file]) => [code, file]))).toEqual(
      mapped(FILES, (file) => `${file}.http`),
    );
    const denying = [...configuration.matchAll(/ errorfile errors\/(\w+)\.http if /g)];
    // A request with a body is malformed, and its connection is closed.
    expect([...new Set(denying.map(([, name]) => name))]).toEqual(['400', ...Object.keys(DENIALS)]);
  });
});
