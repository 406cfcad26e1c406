import { Injectable } from '@nestjs/common';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import type { Answer } from '../../http/envelope.js';
import { KeyedLimit, limitKey } from '../../http/client-limits.js';
import { errors } from '../../http/errors.js';
import { formOf } from '../../http/negotiation.js';
import { sendsToken } from '../../http/request-head.js';
import type { Prepared, PreparedPage } from '../reading/prepared-list.js';

/** Maximum number of requests of one client that wait at a time. */
const MAX_WAITS_PER_CLIENT = 1000;

/**
 * The seconds that a request prefers to wait for a change, if it says what its client knows; `undefined`: none. Without a
 * token it never waits: what asks for the same, and has come to the same cache, would wait behind it.
 */
export function wantedWait(request: CatalogueRequest, isOfChanges = false): number | undefined {
  const isKnown = isOfChanges || request.headers['if-none-match'] !== undefined;
  return isKnown && sendsToken(request) ? formOf(request).wait : undefined;
}

/** As `wantedWait`, but a client that does not see every column never waits: the end of a wait tells of any change. */
export function waitOf(
  { isPartial, isOfChanges }: Prepared,
  request: CatalogueRequest,
): number | undefined {
  return isPartial ? undefined : wantedWait(request, isOfChanges);
}

/** Lets requests wait that have nothing new for their client. */
@Injectable()
export class ChangeWait {
  private readonly clients = new KeyedLimit(MAX_WAITS_PER_CLIENT);

  /**
   * The answer of a request that waits for a change; `undefined` if it has something new for its client, prefers not to
   * wait, or has waited.
   *
   * @param found what it would be answered with, without `count` if its client has that; closed before it waits
   * @throws ApiError `-4` if too many requests of the client wait
   */
  async answer(
    prepared: Prepared & Partial<Pick<PreparedPage, 'key'>>,
    { version, count, close }: { version: string; count?: string; close?: () => Promise<void> },
    request: CatalogueRequest,
  ): Promise<Answer | undefined> {
    const isNew = count !== undefined && !(prepared.isOfChanges && count === '0');
    const seconds = isNew || request.waited ? undefined : waitOf(prepared, request);
    if (seconds === undefined) return undefined;
    await close?.();
    const client = limitKey(request);
    if (!this.clients.enter(client)) throw errors.busy();
    request.waited = { began: performance.now(), key: prepared.key };
    const { res, socket } = request;
    const later = new Promise<void>((resolve) => {
      const end = prepared.wait(version, seconds, () => {
        this.clients.leave(client);
        res.off('close', end);
        socket.off('end', end);
        resolve();
      });
      res.once('close', end);
      // A client that sends nothing more may be gone. Only an answer tells.
      // Pipelined requests share a connection.
      socket.setMaxListeners(0).once('end', end);
      if (res.destroyed || socket.readableEnded) end();
    });
    return { status: 304, later };
  }
}
