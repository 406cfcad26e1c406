#!/usr/bin/env node
import { AppModule } from './app.module.js';
import { run } from '@catalogue/server';

run(AppModule, import.meta.dirname);
