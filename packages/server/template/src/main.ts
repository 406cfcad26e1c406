#!/usr/bin/env node
import { run } from '@catalogue/server';
import { AppModule } from './app.module.js';

run(AppModule, import.meta.dirname);
