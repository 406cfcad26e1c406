import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A span as it came, with its attributes by name. */
export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a span without a parent. */
  readonly parentSpanId: string;
  /** Nanoseconds since 1970. */
  readonly began: bigint;
  readonly ended: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** Those of the service. */
  readonly resource: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

/** A collector of OpenTelemetry that receives traces by OTLP over HTTP, in JSON. */
export class Collector {
  readonly spans: ReceivedSpan[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<Collector> {
    const server = createServer((request, response) => {
      if (request.method !== 'POST' || request.url !== '/v1/traces') {
        response.writeHead(404).end();
        return;
      }
      void json(request).then((body) => {
        collector.spans.push(...spansOf(body));
        response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      });
    });
    const collector = new Collector(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The spans of a trace, in the order in which they began. */
  trace(traceId: string): ReceivedSpan[] {
    const spans = this.spans.filter((span) => span.traceId === traceId);
    return spans.sort((one, other) => Number(one.began - other.began));
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await once(this.server.close(), 'close');
  }
}

/** https://github.com/open-telemetry/opentelemetry-proto/tree/main/opentelemetry/proto/trace/v1 */
/* eslint-disable @typescript-eslint/no-explicit-any */
function spansOf(body: any): ReceivedSpan[] {
  return body.resourceSpans.flatMap(({ resource, scopeSpans }: any) =>
    scopeSpans.flatMap(({ spans }: any) =>
      spans.map((span: any) => ({
        name: span.name,
        traceId: span.traceId,
        spanId: span.spanId,
        parentSpanId: span.parentSpanId ?? '',
        began: BigInt(span.startTimeUnixNano),
        ended: BigInt(span.endTimeUnixNano),
        attributes: valuesOf(span.attributes),
        resource: valuesOf(resource.attributes),
        isError: span.status?.code === 2,
      })),
    ),
  );
}

function valuesOf(attributes: any[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, Object.values<unknown>(value)[0]]),
  );
}
