import { type Agent, get, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { isGivenUp, LONGEST_ANSWER } from './contenders.js';

/**
 * Milliseconds until a whole answer is there: `LONGEST_ANSWER` if it takes longer, or if the service
 * gives up. A service that is too busy is asked again when it says, as a client would.
 *
 * @throws Error if the status is another one than 200
 */
export async function timedRequest(
  url: string,
  headers: Record<string, string>,
  agent: Agent,
): Promise<number> {
  const started = performance.now();
  const passed = (): number => performance.now() - started;
  while (passed() < LONGEST_ANSWER) {
    const answer = await request(url, headers, agent, LONGEST_ANSWER - passed());
    if (!answer) break;
    const { status, body } = answer;
    if (status === 200) return passed();
    if (isGivenUp(status, body)) break;
    const wait = Number(answer.headers['retry-after']);
    if (status !== 503 || !(wait > 0)) throw new Error(`${url} answered ${status}: ${body}`);
    await sleep(wait * 1000);
  }
  return LONGEST_ANSWER;
}

/** Undefined if the answer is not there within so many milliseconds. */
function request(
  url: string,
  headers: Record<string, string>,
  agent: Agent,
  longest: number,
): Promise<{ status: number; headers: IncomingHttpHeaders; body: string } | undefined> {
  return new Promise((resolve, reject) => {
    const sent = get(url, { headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () => {
        clearTimeout(timeout);
        const body = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
    sent.once('error', reject);
    const timeout = setTimeout(() => {
      resolve(undefined);
      sent.destroy();
    }, longest);
  });
}
