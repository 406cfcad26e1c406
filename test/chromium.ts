import { existsSync } from 'node:fs';
import { withTool } from './tools.js';

/** Path of Chromium: `CHROMIUM`, or where distributions install it. The shell without windows is the quickest. */
export const executablePath = [
  process.env.CHROMIUM ?? '',
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
].find((path) => path !== '' && existsSync(path));

/** `describe` for tests in Chromium, which are skipped without one. */
export const { describe: describeInBrowser } = withTool({
  name: 'chromium',
  isThere: executablePath !== undefined,
  install: 'apt-get install chromium-headless-shell, or the path of Chromium as CHROMIUM',
});
