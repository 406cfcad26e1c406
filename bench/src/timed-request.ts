import { type Agent, get } from 'node:http';
import { isGivenUp, LONGEST_ANSWER } from './contenders.js';

/**
 * Milliseconds until a whole answer is there: `LONGEST_ANSWER` if it takes longer, or if the service
 * gives up.
 *
 * @throws Error if the status is another one than 200
 */
export function timedRequest(
  url: string,
  headers: Record<string, string>,
  agent: Agent,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const request = get(url, { headers, agent }, (response) => {
      const body: Buffer[] = [];
      response.on('data', (chunk: Buffer) => body.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        clearTimeout(timeout);
        const { statusCode = 0 } = response;
        if (statusCode === 200) {
          resolve(performance.now() - started);
          return;
        }
        const text = Buffer.concat(body).toString();
        if (isGivenUp(statusCode, text)) resolve(LONGEST_ANSWER);
        else reject(new Error(`${url} answered ${statusCode}: ${text}`));
      });
    });
    request.once('error', reject);
    const timeout = setTimeout(() => {
      resolve(LONGEST_ANSWER);
      request.destroy();
    }, LONGEST_ANSWER);
  });
}
