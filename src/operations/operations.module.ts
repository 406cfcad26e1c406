import { Module } from '@nestjs/common';
import { Metrics } from './metrics.js';
import { OperatorEndpoints } from './operator-endpoints.js';
import { SchemaCheck } from '../schema/schema-check.js';

/** What operators use: health, metrics and the schema check. */
@Module({ providers: [Metrics, OperatorEndpoints, SchemaCheck] })
export class OperationsModule {}
