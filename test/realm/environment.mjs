import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';
import { register } from 'node:module';

let isRegistered = false;

/** A test environment of Jest that is the realm of its worker, for all spec files that the worker runs. */
export default class Environment {
  constructor({ projectConfig: config }) {
    if (!isRegistered) {
      const [[, , data]] = config.transform;
      register('./hooks.mjs', import.meta.url, { data });
      isRegistered = true;
    }
    this.global = globalThis;
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config, global: globalThis });
    // What Jest and a spec file replace.
    this.replaced = { console, exit: process.exit, environment: { ...process.env } };
  }

  async setup() {}

  async teardown() {
    this.moduleMocker.restoreAllMocks();
    this.fakeTimersModern.dispose();
    const { exit, environment } = this.replaced;
    globalThis.console = this.replaced.console;
    process.exit = exit;
    for (const name of Object.keys(process.env)) delete process.env[name];
    Object.assign(process.env, environment);
    for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
      // The state of jest-circus, which its next instance would go on with.
      if (/^(JEST_|EVENT_HANDLERS$|TEST_TIMEOUT_)/.test(symbol.description)) {
        delete globalThis[symbol];
      }
    }
  }

  // There is none: it is for code that is compiled for another realm.
  getVmContext() {
    return null;
  }
}
