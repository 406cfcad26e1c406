import { connect, type Socket } from 'node:net';

/** What one client asks for beside another one. */
export interface Greed {
  readonly url: string;
  /** Its credentials. */
  readonly headers: Record<string, string>;
  /** Whole lists, each on a connection of its own. A list that is refused is asked for again after a second. */
  readonly streams: number;
  /** Pages, in the middle of the time, on a connection for each twenty of them. */
  readonly requests: number;
  readonly seconds: number;
}

/** Responses by their status. */
export type Statuses = Record<string, number>;

const REQUESTS_PER_CONNECTION = 20;
/** As `Retry-After` of a refusal says. */
const RETRY_AFTER = 1000;

process.on('message', (greed: Greed) => {
  run(greed).then(
    (statuses) => process.send?.(statuses),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});

async function run({ url, headers, streams, requests, seconds }: Greed): Promise<Statuses> {
  const { hostname, port, host, pathname } = new URL(url);
  const statuses: Statuses = {};
  const sockets = new Set<Socket>();
  const request = (query: string, more: Record<string, string> = {}): string => {
    const lines = Object.entries({ Host: host, ...headers, ...more });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
    return `GET ${pathname}${query} HTTP/1.1\r\n${head}\r\n`;
  };
  let isOver = false;
  const open = (text: string, ended: (again: () => void) => void): void => {
    const socket = connect(Number(port), hostname);
    sockets.add(socket);
    socket.write(text);
    socket.on('data', (data) => {
      for (const [, status = ''] of data.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3}) /g)) {
        statuses[status] = (statuses[status] ?? 0) + 1;
        if (status !== '200') ended(() => socket.write(text));
      }
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      ended(() => {
        open(text, ended);
      });
    });
  };
  const stream = request('', { Accept: 'text/csv' });
  for (let each = 0; each < streams; each += 1) {
    open(stream, (again) => {
      setTimeout(() => {
        if (!isOver) again();
      }, RETRY_AFTER);
    });
  }
  await new Promise((resolve) => setTimeout(resolve, (seconds * 1000) / 2));
  for (let at = 0; at < requests; at += REQUESTS_PER_CONNECTION) {
    const pages = Array.from({ length: REQUESTS_PER_CONNECTION }, (_, page) =>
      request(`?offset=${at + page}`),
    );
    open(pages.join(''), () => undefined);
  }
  await new Promise((resolve) => setTimeout(resolve, (seconds * 1000) / 2));
  isOver = true;
  for (const socket of sockets) socket.destroy();
  return statuses;
}
