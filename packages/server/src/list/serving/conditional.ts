import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import { type CatalogueRequest, sendsToken } from '../../http/request.js';
import type { Answer } from '../../http/envelope.js';
import { KeyedLimit, limitKey } from '../../http/client-limits.js';
import { errors } from '../../http/errors.js';
import { formOf } from '../../http/negotiation.js';
import type { Prepared, PreparedPage, ReadPage, State } from '../reading/prepared-list.js';

/** Maximum number of requests of one client that wait at a time. */
const MAX_WAITS_PER_CLIENT = 1000;

/**
 * The entity tag of a list (RFC 9110, section 8.8.3). It is weak, because it is the same for every
 * content coding.
 *
 * @param key distinguishes lists of the same version
 */
export function entityTag({ version }: State, key: string): string {
  return `W/"${version}-${key.slice(0, 12)}"`;
}

/**
 * The entity tag of a single object: weak, because it is the same for every content coding. It changes with the text of the
 * object, so also with `fields`, and not with a write that leaves the object as it was.
 *
 * @param json the object as in the response
 */
export function objectTag(json: string): string {
  return `W/"${hash('sha256', json, 'base64url')}"`;
}

/**
 * The entity tag of a page that was read. A client that does not see every column has one of what it sees, since the
 * version tells of other changes.
 */
export function tagOf({ isPartial, key }: PreparedPage, page: ReadPage): string {
  return isPartial ? objectTag(`${page.count} ${page.objects}`) : entityTag(page, key);
}

/** Whether the client has what a tag is of, by weak comparison of `If-None-Match` (RFC 9110, section 13.1.2). */
export function hasTag({ headers }: CatalogueRequest, tag: string): boolean {
  const { 'if-none-match': ifNoneMatch = '' } = headers;
  if (ifNoneMatch.trim() === '*') return true;
  const sent: string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return sent.includes(tag.slice(2));
}

/**
 * Sets `ETag`, if there is a tag, for clients that keep a copy `X-Updated-Until`, and for those that wait
 * `Preference-Applied`.
 */
export function setState(
  prepared: Prepared,
  request: CatalogueRequest,
  state: State,
  tag: string | undefined,
): void {
  const { res } = request;
  const seconds = waitOf(prepared, request);
  if (seconds !== undefined) res.setHeader('Preference-Applied', `wait=${seconds}`);
  if (tag !== undefined) res.setHeader('ETag', tag);
  if (state.until !== null) res.setHeader('X-Updated-Until', state.until);
}

/**
 * The seconds that a request prefers to wait for a change, if it says what its client knows; `undefined`: none. Without a
 * token it never waits: what asks for the same, and has come to the same cache, would wait behind it.
 */
export function wantedWait(request: CatalogueRequest, isOfChanges = false): number | undefined {
  const isKnown = isOfChanges || request.headers['if-none-match'] !== undefined;
  return isKnown && sendsToken(request) ? formOf(request).wait : undefined;
}

/** As `wantedWait`, but a client that does not see every column never waits: the end of a wait tells of any change. */
function waitOf(
  { isPartial, isOfChanges }: Prepared,
  request: CatalogueRequest,
): number | undefined {
  return isPartial ? undefined : wantedWait(request, isOfChanges);
}

/** What a request asks for that may wait: facets and pages have a key. */
type Awaitable = Prepared & Partial<Pick<PreparedPage, 'key'>>;

/** Lets requests wait that have nothing new for their client. */
@Injectable()
export class ChangeWait {
  private readonly clients = new KeyedLimit(MAX_WAITS_PER_CLIENT);

  /** The answer of a request whose client has what it would be answered with: `304`, at once or later. */
  async unchanged(
    prepared: Awaitable,
    state: State,
    tag: string,
    request: CatalogueRequest,
  ): Promise<Answer> {
    const { version } = state;
    const later = await this.answer(prepared, { version }, request);
    if (later) return later;
    setState(prepared, request, state, tag);
    return { status: 304 };
  }

  /**
   * The answer of a request that waits for a change; `undefined` if it has something new for its client, prefers not to
   * wait, or has waited.
   *
   * @param found what it would be answered with, without `count` if its client has that; closed before it waits
   * @throws ApiError `-4` if too many requests of the client wait
   */
  async answer(
    prepared: Awaitable,
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
