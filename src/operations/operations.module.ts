import { Module } from '@nestjs/common';
import { Metrics } from './metrics.js';
import { OperatorEndpoints } from './operator-endpoints.js';

/** What those see who run the service. */
@Module({ providers: [Metrics, OperatorEndpoints] })
export class OperationsModule {}
