import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerTasks } from './processes.js';

/** Readers that poll through a cache, each on a connection of its own. */
export interface Reading {
  readonly port: number;
  readonly readers: number;
  /** Seconds between two requests of a reader, for which all of them also take to begin. */
  readonly period: number;
  /** Seconds to read for, once all have begun. */
  readonly seconds: number;
  /** The path of a list whose first object has milliseconds of `performance.timeOrigin + now()` behind `since` as its stock. */
  readonly path: string;
  readonly since: number;
}

export interface ReadingResult {
  readonly answers: number;
  readonly failures: number;
  /** Milliseconds. */
  readonly latencies: readonly number[];
  /** Milliseconds since the latest change that an answer has. */
  readonly ages: readonly number[];
}

answerTasks(async ({ port, readers, period, seconds, path, since }: Reading) => {
  const found = { answers: 0, failures: 0, latencies: [] as number[], ages: [] as number[] };
  const begin = performance.now() + period * 1000;
  const end = begin + seconds * 1000;
  await Promise.all(Array.from({ length: readers }, (_, at) => read(at)));
  return found satisfies ReadingResult;

  /** Every other reader asks for what was changed since its last answer. */
  async function read(at: number): Promise<void> {
    await sleep((period * 1000 * at) / readers);
    const socket = connect(port, '127.0.0.1').setEncoding('latin1');
    let until: string | undefined;
    while (performance.now() < end) {
      const query = at % 2 === 1 && until !== undefined ? `&updatedSince=${until}` : '';
      const asked = performance.now();
      const answer = await exchange(socket, path + query);
      const now = performance.now();
      const stock = /"stock":(\d+)/.exec(answer)?.[1];
      until = /^X-Updated-Until: (\S+)\r$/m.exec(answer)?.[1];
      if (asked >= begin) {
        found.answers += 1;
        if (!answer.startsWith('HTTP/1.1 200') || stock === undefined) found.failures += 1;
        else found.ages.push(performance.timeOrigin + now - since - Number(stock));
        found.latencies.push(now - asked);
      }
      // A little earlier or later each time, as people come.
      await sleep(Math.max(0, period * 1000 * (0.9 + 0.2 * Math.random()) - (now - asked)));
    }
    socket.destroy();
  }
});

/** The answer to a request; whatever came of it if the connection ends. */
function exchange(socket: Socket, path: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const done = (): void => {
      socket.off('data', add).off('close', done).off('error', done);
      resolve(text);
    };
    const add = (chunk: string): void => {
      text += chunk;
      const head = text.indexOf('\r\n\r\n');
      const length = /^Content-Length: (\d+)\r$/m.exec(text)?.[1];
      if (head >= 0 && text.length >= head + 4 + Number(length)) done();
    };
    socket.on('data', add).on('close', done).on('error', done);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n`);
  });
}
