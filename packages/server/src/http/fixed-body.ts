import { hash } from 'node:crypto';
import type { Request, Response } from 'express';
import { compress, type Encoding, encodingOf } from './negotiation.js';

/** A response body that does not change while the service runs, in each content coding. */
export class FixedBody {
  private readonly tag: string;
  private readonly encoded = new Map<Encoding, Promise<Buffer>>();

  /** @param type the `Content-Type` */
  constructor(
    private readonly type: string,
    private readonly body: Buffer,
  ) {
    this.tag = `W/"${hash('sha256', body, 'base64url')}"`;
  }

  async send(request: Request, response: Response): Promise<void> {
    response.setHeader('ETag', this.tag);
    if (request.fresh) {
      response.status(304).end();
      return;
    }
    const encoding = encodingOf(request.headers['accept-encoding']);
    const body = encoding ? await this.in(encoding) : this.body;
    if (encoding) response.setHeader('Content-Encoding', encoding);
    response.setHeader('Content-Type', this.type);
    response.setHeader('Content-Length', body.length);
    response.status(200).end(body);
  }

  /** The body in an encoding. It is compressed on first use. */
  private in(encoding: Encoding): Promise<Buffer> {
    const compressed = this.encoded.get(encoding) ?? compress(this.body, encoding);
    this.encoded.set(encoding, compressed);
    return compressed;
  }
}
