import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/**
 * The responses that each connection still owes to its client, in the order of their requests.
 *
 * Every response added emits `close` in the end. Node itself emits it only for the response at the
 * front when a connection ends, and never for those of pipelined requests behind it.
 */
export class Connections {
  private readonly owed = new Map<Duplex, Set<ServerResponse>>();
  private readonly latest = new WeakMap<Duplex, ServerResponse>();

  add(response: ServerResponse): void {
    const { socket } = response.req;
    const responses = this.owed.get(socket) ?? this.open(socket);
    this.latest.set(socket, response);
    responses.add(response);
    response.once('close', () => responses.delete(response));
  }

  /** The response to the latest request of a connection; `undefined` before its first request. */
  latestOf(socket: Duplex): ServerResponse | undefined {
    return this.latest.get(socket);
  }

  /** The response that a connection is writing; `undefined` where it owes none. */
  frontOf(socket: Duplex): ServerResponse | undefined {
    const [front] = this.owed.get(socket) ?? [];
    return front;
  }

  /** Every response that is not closed yet. */
  get responses(): ServerResponse[] {
    return [...this.owed.values()].flatMap((responses) => [...responses]);
  }

  private open(socket: Duplex): Set<ServerResponse> {
    const responses = new Set<ServerResponse>();
    this.owed.set(socket, responses);
    const close = (): void => {
      this.owed.delete(socket);
      // Node has emitted its own `close` by then.
      process.nextTick(closeAll, responses);
    };
    if (socket.closed) close();
    else socket.once('close', close);
    return responses;
  }
}

function closeAll(responses: ReadonlySet<ServerResponse>): void {
  for (const response of responses) {
    response.destroy();
    response.emit('close');
  }
}
