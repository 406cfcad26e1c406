#!/usr/bin/env node
import { run } from './cli/program.js';

// Not awaited here: if nothing is left that could end the command, `run` says so and sets the status.
void run(process.argv.slice(2)).then((status) => (process.exitCode = status));
