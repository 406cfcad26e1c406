import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Upper bounds whatever the file limit is, because each connection takes memory. */
const MAXIMUM_CONNECTIONS = { service: 20_000, admin: 1000 };
/** File descriptors reserved for everything except connections. */
const RESERVED = 100;
/** The share of the remaining descriptors that the service port gets. */
const SERVICE_SHARE = 0.8;

/**
 * The maximum number of open connections for each port of the process. They keep the process from running out
 * of file descriptors. Without a free descriptor it can neither answer a health check nor open a connection to
 * its database.
 *
 * @param databaseConnections the number of descriptors for connections to databases
 */
export function connectionLimits(databaseConnections: number): typeof MAXIMUM_CONNECTIONS {
  const available = Math.max(20, openFilesLimit() - RESERVED - databaseConnections);
  return {
    service: Math.min(MAXIMUM_CONNECTIONS.service, Math.floor(available * SERVICE_SHARE)),
    admin: Math.min(MAXIMUM_CONNECTIONS.admin, Math.floor(available * (1 - SERVICE_SHARE))),
  };
}

/** The soft limit of open files, which Node has raised to the hard one; infinite where `/proc` does not tell it. */
function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const [, soft] = /^Max open files +(\d+)/m.exec(limits) ?? [];
    return soft === undefined ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}

/**
 * The pending responses of each connection, in the order of their requests.
 *
 * Every response added emits `close` eventually. When a connection ends, Node itself emits it only
 * for the first pending response, and never for those of the pipelined requests behind it.
 */
export class Connections {
  private readonly pending = new Map<Duplex, Set<ServerResponse>>();
  /** Those whose next response is their last. Nothing behind its request is answered. */
  readonly ending = new WeakSet<Duplex>();
  private isClosing = false;

  add(response: ServerResponse): void {
    const { socket } = response.req;
    const responses = this.pending.get(socket) ?? this.open(socket);
    if (this.isClosing) {
      const before = this.latestOf(socket);
      if (before && !before.headersSent) before.removeHeader('Connection');
      response.setHeader('Connection', 'close');
    }
    responses.add(response);
    response.once('close', () => responses.delete(response));
  }

  /** Has the last response of each connection say that the connection is closed after it. */
  close(): void {
    this.isClosing = true;
    for (const socket of this.pending.keys()) {
      const last = this.latestOf(socket);
      if (last && !last.headersSent) last.setHeader('Connection', 'close');
    }
  }

  /** The response to the latest request of a connection; `undefined` if none is pending. */
  latestOf(socket: Duplex): ServerResponse | undefined {
    return [...(this.pending.get(socket) ?? [])].at(-1);
  }

  /** The response that a connection is writing; `undefined` if none is pending. */
  frontOf(socket: Duplex): ServerResponse | undefined {
    const [front] = this.pending.get(socket) ?? [];
    return front;
  }

  /** Every response that is not closed yet. */
  get responses(): ServerResponse[] {
    return [...this.pending.values()].flatMap((responses) => [...responses]);
  }

  private open(socket: Duplex): Set<ServerResponse> {
    const responses = new Set<ServerResponse>();
    this.pending.set(socket, responses);
    const close = (): void => {
      this.pending.delete(socket);
      // On the next tick, because Node emits its own `close` first.
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
