import { Module } from '@nestjs/common';
import { Settings } from '../settings/settings.js';
import { Metrics } from './metrics.js';
import { OperatorEndpoints } from './operator-endpoints.js';
import { SchemaCheck } from '../schema/schema-check.js';
import type { Tracing } from './tracing.js';

/** The token of `Tracing`, or null without a collector. */
export const TRACING = Symbol('tracing');

/** What operators use: health, metrics, traces and the schema check. */
@Module({
  providers: [
    Metrics,
    OperatorEndpoints,
    SchemaCheck,
    {
      provide: TRACING,
      inject: [Settings],
      useFactory: async ({ otlpEndpoint }: Settings): Promise<Tracing | null> => {
        if (otlpEndpoint === undefined) return null;
        // Imported here, since its packages take memory and time.
        const { Tracing } = await import('./tracing.js');
        return new Tracing(otlpEndpoint);
      },
    },
  ],
})
export class OperationsModule {}
