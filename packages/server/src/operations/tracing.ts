import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import {
  type Context,
  defaultTextMapGetter,
  diag,
  DiagLogLevel,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CatalogueRequest } from '../http/request.js';
import type { Observation, Phase, RequestTrace } from '../http/observation.js';
import { VERSION } from '../package.js';

/** Milliseconds that the last spans have to reach the collector. */
const SHUTDOWN_TIMEOUT = 3000;
/** Milliseconds between two log lines about spans that could not be exported. */
const LOG_PERIOD = 60_000;

/**
 * Traces of requests, exported by OTLP over HTTP. Only imported if there is a collector. The variables
 * of OpenTelemetry for the sampler, the resource, the exporter and its batches apply.
 */
export class Tracing implements OnApplicationShutdown {
  private readonly provider: BasicTracerProvider;
  private readonly tracer: Tracer;
  private readonly propagator = new W3CTraceContextPropagator();

  /** @param endpoint the base URL of the collector */
  constructor(endpoint: string) {
    logFailures();
    const exporter = new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` });
    const named = resourceFromAttributes({
      'service.name': 'catalogue',
      'service.version': VERSION,
      'process.pid': process.pid,
    });
    this.provider = new BasicTracerProvider({
      resource: named.merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [new BatchSpanProcessor(exporter)],
    });
    this.tracer = this.provider.getTracer('catalogue', VERSION);
  }

  /** Begins the span of a request, within that of its `traceparent`. */
  begin(request: CatalogueRequest): RequestTrace {
    const parent = this.propagator.extract(ROOT_CONTEXT, request.headers, defaultTextMapGetter);
    // By default each span would take a time of its own from the other clock, to a millisecond.
    const origin = Date.now() - performance.now();
    const now = (): number => origin + performance.now();
    const options = { kind: SpanKind.SERVER, startTime: now() };
    const span = this.tracer.startSpan(request.method, options, parent);
    return new RequestSpan(this.tracer, span, trace.setSpan(parent, span), now);
  }

  /** Called by Nest after every request has been answered. */
  async onApplicationShutdown(): Promise<void> {
    const timeout = sleep(SHUTDOWN_TIMEOUT, undefined, { ref: false });
    await Promise.race([this.provider.shutdown().catch(() => undefined), timeout]);
  }
}

class RequestSpan implements RequestTrace {
  private phase: Span | undefined;

  constructor(
    private readonly tracer: Tracer,
    private readonly span: Span,
    private readonly context: Context,
    /** Milliseconds since 1970 by the monotonic clock. */
    private readonly now: () => number,
  ) {}

  get traceId(): string {
    return this.span.spanContext().traceId;
  }

  get spanId(): string {
    return this.span.spanContext().spanId;
  }

  enter(phase: Phase): void {
    this.leave();
    // A trace that is not sampled has no spans.
    if (!this.span.isRecording()) return;
    this.phase = this.tracer.startSpan(phase, { startTime: this.now() }, this.context);
  }

  leave(): void {
    this.phase?.end(this.now());
    this.phase = undefined;
  }

  end({ id, method, route, client, status, errcode, rows, plan }: Observation): void {
    const failed = status >= 500 ? { code: SpanStatusCode.ERROR } : undefined;
    if (failed) this.phase?.setStatus(failed);
    this.leave();
    // The path itself may contain any text that a client sent.
    if (route !== undefined) this.span.updateName(`${method} ${route}`);
    this.span.setAttributes({
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status === 0 ? undefined : status,
      'catalogue.request_id': id,
      'catalogue.client': client,
      'catalogue.errcode': errcode,
      'catalogue.rows': rows,
      'catalogue.plan': plan?.name,
      'catalogue.counted_by': plan?.count,
    });
    if (failed) this.span.setStatus(failed);
    this.span.end(this.now());
  }
}

/** Logs the errors of OpenTelemetry, such as that of an export, once a minute at most. */
function logFailures(): void {
  const logger = new Logger('Traces');
  let logged = -Infinity;
  const log = (message: string): void => {
    const now = performance.now();
    if (now - logged < LOG_PERIOD) return;
    logged = now;
    logger.warn(message);
  };
  const ignore = (): void => undefined;
  const levels = { error: log, warn: log, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger(levels, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
