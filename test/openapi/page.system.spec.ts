import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import axe from 'axe-core';
import { execFile } from 'node:child_process';
import { createServer, request as send, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium, type Locator, type Page } from 'playwright-core';
import { DEMO_CLIENT, DEMO_TOKEN, loadDemonstration } from '#server/demo/load-demonstration.js';
import { PROJECT } from '../project.js';
import { describeInBrowser, executablePath } from '../chromium.js';
import { sharedService, startService } from '../service.js';
import { eventually } from '../until.js';

// As on the embedded database, whose demonstration client is public.
const service = sharedService({ DATABASE_URL: '', RATE_LIMIT_PER_MINUTE: '600' });

beforeAll(async () => {
  await loadDemonstration(PROJECT, service.dataSource);
});

describe('The front page', () => {
  it('leads browsers to the documentation, and has nothing for anybody else', async () => {
    for (const accept of ['text/html', 'text/html,application/xhtml+xml,*/*;q=0.8']) {
      const response = await service.anonymous().get('/').set('Accept', accept).expect(302);
      expect(response.headers.location).toBe('docs');
      expect(response.headers.vary).toMatch(/^Accept,/);
    }
    for (const accept of ['*/*', 'application/json', 'application/json,text/html;q=0.5']) {
      const { body } = await service.anonymous().get('/').set('Accept', accept).expect(404);
      expect(body.result.errcode).toBe('-30');
    }
    await service.anonymous().post('/').set('Accept', 'text/html').expect(404);
  });
});

describe('The page /docs', () => {
  it('may load what is here, and no other page may load anything', async () => {
    const page = await service.anonymous().get('/docs').expect(200);
    expect(page.headers['content-security-policy']).toContain("script-src 'self'");
    const parts = [...page.text.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, part]) => part);
    expect(parts).toHaveLength(4);
    for (const part of [...parts, 'docs/scalar/standalone.esm.js']) {
      const { headers } = await service.anonymous().get(`/${part}`).expect(200);
      expect(headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'");
    }
    for (const name of ['unknown.js', 'standalone.esm.js.map', 'chunks', '%2e%2e/style.css']) {
      await service.anonymous().get(`/docs/scalar/${name}`).expect(404);
    }
  });

  it('is also at /docs/, relative to the path of a proxy', async () => {
    const { headers } = await service.anonymous().get('/docs/').expect(302);
    expect(headers.location).toBe('../docs');
  });

  it.each(['/docs', '/openapi.json', '/docs/start.js', '/docs/scalar/standalone.esm.js'])(
    'is asked for again by its entity tag: %s',
    async (path) => {
      const { headers } = await service.anonymous().get(path).expect(200);
      const tag = headers.etag ?? '';
      const again = await service.anonymous().get(path).set('If-None-Match', tag).expect(304);
      expect(again.headers.etag).toBe(tag);
      expect(again.text).toBe('');
      await service.anonymous().get(path).set('If-None-Match', 'W/"other"').expect(200);
    },
  );

  it('carries credentials on the embedded database alone', async () => {
    const script = await service.anonymous().get('/docs/start.js').expect(200);
    expect(script.text).toContain(DEMO_TOKEN);
    const other = await startService();
    const { text } = await other.anonymous().get('/docs/start.js').expect(200);
    expect(text).not.toContain(DEMO_TOKEN);
    await other.stop();
  });

  /** Runs the script of the page, and says what it has asked for, given to Scalar, and shown itself. */
  async function started(search: string, response: Response) {
    const { text } = await service.anonymous().get('/docs/start.js').expect(200);
    const source = text.replace(/^import .*;$/m, '');
    const asked: string[] = [];
    let shown: Record<string, unknown> = {};
    const page = { textContent: '', replaceChildren: () => undefined };
    const classes: Record<string, boolean> = {};
    const names = ['location', 'document', 'fetch', 'createApiReference'];
    // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the script of the page itself
    const start = new Function(...names, `return (async () => {${source}})()`);
    const classList = { toggle: (name: string, isOn: boolean) => (classes[name] = isOn) };
    const error: unknown = await start(
      { search, href: `http://127.0.0.1/docs${search}` },
      { documentElement: { classList }, querySelector: () => page },
      (url: string) => Promise.resolve((asked.push(url), response)),
      (_: string, options: Record<string, unknown>) => (shown = options),
    ).catch((reason: unknown) => reason);
    return { asked, shown, classes, error, message: page.textContent };
  }

  it('shows what the client in its address may use', async () => {
    const search = '?clientID=acme&access_token=secret';
    const { asked, shown, classes } = await started(search, new Response('{}'));
    expect(asked).toEqual([`openapi.json${search}`]);
    // Only the token of the demonstration is for everybody's eyes.
    expect(classes).toEqual({ demonstration: false });
    expect(shown).toMatchObject({
      authentication: {
        securitySchemes: { 'X-Client-ID': { value: 'acme' }, Authorization: { token: 'secret' } },
      },
    });
  });

  it('takes no text from its address that means something in JSON or a shell', async () => {
    const document = JSON.stringify({ example: 'curl $CLIENT_ID:$ACCESS_TOKEN' });
    for (const token of [`x'; rm -r ~'`, '"}', '$&', 'a\\b', 'a b']) {
      const search = `?clientID=acme&access_token=${encodeURIComponent(token)}`;
      const { shown, classes } = await started(search, new Response(document));
      expect(shown.content).toEqual({ example: `curl ${DEMO_CLIENT}:${DEMO_TOKEN}` });
      expect(classes).toEqual({ demonstration: true });
    }
  });

  it('says which credentials of its address are wrong', async () => {
    for (const [search, msg] of [
      ['?clientID=acme&access_token=secret', 'The credentials are not valid'],
      ['?access_token=secret', 'The parameter clientID is required'],
    ] as const) {
      const { body } = await service.anonymous().get(`/openapi.json${search}`).expect(401);
      const response = Response.json(body, { status: 401 });
      const { shown, error, message } = await started(search, response);
      expect([shown, message]).toEqual([{}, msg]);
      expect(error).toEqual(new Error(msg));
    }
  });
});

/** The path below which a proxy has the service. */
const PREFIX = '/shop/api';

/** A proxy that removes a prefix from the path, as operators place one before the service. */
function startProxy(port: number): Promise<Server> {
  const proxy = createServer((request, response) => {
    const { url = '', method, headers } = request;
    if (!url.startsWith(PREFIX)) response.writeHead(404).end();
    else {
      const path = url.slice(PREFIX.length);
      send({ port, host: '127.0.0.1', path, method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      }).end();
    }
  });
  return new Promise((resolve) => {
    proxy.listen(0, '127.0.0.1', () => {
      resolve(proxy);
    });
  });
}

describeInBrowser('In a browser, /docs', () => {
  let browser: Browser;
  let proxy: Server;
  let base: string;
  /** One for all tests: a window of its own for each takes most of the time. */
  let page: Page;
  /** What the page must not have: console messages, errors and requests to anything else. */
  let faults: string[] = [];

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath });
    proxy = await startProxy(service.port);
    base = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${PREFIX}`;
    page = await browser.newPage();
    page.on('console', (message) => {
      // Scalar prints its version. A violation of the Content-Security-Policy is an error.
      if (message.type() !== 'info') faults.push(message.text());
    });
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('request', (request) => {
      const isOurs = ['data:', `${base}/`].some((start) => request.url().startsWith(start));
      if (!isOurs) faults.push(request.url());
    });
  });
  afterAll(async () => {
    await browser.close();
    proxy.closeAllConnections();
    proxy.close();
  });

  async function show(page: Page, width: number, colorScheme: 'light' | 'dark'): Promise<void> {
    await page.setViewportSize({ width, height: width < 600 ? 844 : 900 });
    await page.emulateMedia({ colorScheme });
  }

  /** Opens the page behind the proxy, at the list of products, as a visitor who was never there. */
  async function open(): Promise<void> {
    const session = await page.context().newCDPSession(page);
    await page.goto('about:blank');
    await session.send('Storage.clearDataForOrigin', {
      origin: new URL(base).origin,
      storageTypes: 'all',
    });
    await session.detach();
    await show(page, 1440, 'light');
    faults = [];
    await page.goto(`${base}/docs/#tag/products/GET/products`);
    await page.getByRole('button', { name: 'Test Request' }).first().waitFor();
  }

  /** The command that the page shows for an operation. */
  async function sampleOf(page: Page, path: string): Promise<string> {
    const card = page
      .locator('.request-card')
      .filter({ hasText: new RegExp(`GET\\s*${path}`, 'i') });
    return (await card.locator('pre').first().textContent()) ?? '';
  }

  async function run(command: string): Promise<unknown> {
    const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', command]);
    return JSON.parse(stdout);
  }

  /** Closes what tests before have opened on the page, or opens the page. Loading it takes most of the time. */
  async function leaveDialogs(): Promise<void> {
    if (page.url() === 'about:blank') await open();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    faults = [];
  }

  /**
   * The serious and critical violations that axe-core finds.
   *
   * @param where the whole page, or the open dialog over a page that was checked
   * @param rules all, or those that a scheme of colours has an effect on
   */
  async function violations(
    where: 'page' | 'dialog' = 'page',
    rules: 'all' | 'colours' = 'all',
  ): Promise<string[]> {
    if (!(await page.evaluate('"axe" in window'))) await page.evaluate(axe.source);
    // What fades in has little contrast until it is there.
    await page.evaluate(`Promise.all(
      document.getAnimations()
        .filter(({ effect }) => effect.getComputedTiming().endTime < Infinity)
        .map(({ finished }) => finished.catch(() => undefined)),
    ).then(() => undefined)`);
    const context = where === 'page' ? 'document' : `'[role="dialog"]'`;
    const only = rules === 'all' ? '' : ', runOnly: ["color-contrast", "link-in-text-block"]';
    const { violations: found } = await page.evaluate<axe.AxeResults>(
      `axe.run(${context}, { resultTypes: ["violations"]${only} })`,
    );
    return found
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
  }

  interface Box {
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
  }

  async function box(locator: Locator): Promise<Box> {
    const found = await locator.boundingBox();
    if (!found) throw new Error(`${String(locator)} is not visible`);
    return found;
  }

  function contains(outer: Box, inner: Box): boolean {
    return (
      inner.x >= outer.x &&
      inner.y >= outer.y &&
      inner.x + inner.width <= outer.x + outer.width &&
      inner.y + inner.height <= outer.y + outer.height
    );
  }

  async function expectApart(first: Locator, second: Locator): Promise<void> {
    await second.scrollIntoViewIfNeeded();
    const [a, b] = [await box(first), await box(second)];
    const isApart =
      a.x + a.width <= b.x ||
      b.x + b.width <= a.x ||
      a.y + a.height <= b.y ||
      b.y + b.height <= a.y;
    expect({ a, b, isApart }).toMatchObject({ isApart: true });
  }

  const openRequest = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'Test Request' }).first().click();
    await page.getByRole('button', { name: 'Send' }).first().waitFor();
  };

  it.each([
    ['before its script has run', true],
    ['without JavaScript', false],
  ])('has a title, its state and links %s', async (_, javaScriptEnabled) => {
    const other = await browser.newPage({ javaScriptEnabled, viewport: null });
    // A slow network never delivers the script.
    await other.route('**/docs/scalar/**', () => undefined);
    await other.goto(`${base}/docs`, { waitUntil: 'commit' });
    await other.getByRole('heading', { name: 'Catalogue' }).waitFor();
    // Its style may come after it.
    const [shown, hidden] = javaScriptEnabled
      ? ['Loading', 'needs JavaScript']
      : ['needs JavaScript', 'Loading'];
    await other.getByText(shown).waitFor();
    await other.getByText(hidden).waitFor({ state: 'hidden' });
    const link = other.getByRole('link', { name: 'OpenAPI document' });
    await link.click({ noWaitAfter: true });
    await other.waitForURL(`${base}/openapi.json`);
    expect(await other.textContent('body')).toContain('"openapi":"3.1');
    await other.close();
  });

  it('shows commands that work as they stand, and sends requests', async () => {
    await open();
    expect(await page.getByText('Loading').count()).toBe(0);
    const sample = await sampleOf(page, '/products');
    expect(sample).toContain(`${base}/products?limit=`);
    expect(sample).toContain(`Authorization: Bearer ${DEMO_TOKEN}`);
    expect(await run(sample)).toMatchObject({ response_data: { count: '3000' } });
    const [inText = ''] = await page.locator('.markdown pre').allTextContents();
    expect(await run(inText)).toMatchObject({ response_data: { count: '3000' } });

    await openRequest(page);
    // Several values of an array.
    const type = page.locator('tr#type');
    await type.getByRole('checkbox').check({ force: true });
    await type.getByRole('button').first().click();
    await page.getByRole('option', { name: 'DIGITAL' }).click();
    const sent = page.waitForResponse((response) => response.url().includes('/products?'));
    await page.getByRole('button', { name: 'Send' }).first().click();
    const response = await sent;
    expect(new URL(response.url()).searchParams.get('type')).toBe('PHYSICAL,DIGITAL');
    expect(response.request().headers()).toMatchObject({ 'x-client-id': DEMO_CLIENT });
    const first: unknown = expect.objectContaining({ productID: 'p-000001' });
    expect(await response.json()).toMatchObject({
      result: { status: 'OK', errcode: '0', msg: '' },
      response_data: { count: '2908', objects: expect.arrayContaining([first]) },
    });
    await page.getByText('200 OK').first().waitFor();
    expect(faults).toEqual([]);
  });

  it.each(['JavaScript', 'Python', 'PHP'])(
    'shows a request in %s, with credentials',
    async (name) => {
      await leaveDialogs();
      await page.getByTestId('client-picker').first().click();
      await page.getByRole('combobox').last().fill(name);
      await page.getByRole('option').first().click();
      await eventually(async () => {
        const sample = await sampleOf(page, '/products');
        expect(sample).not.toContain('curl ');
        for (const part of ['/products?limit=', DEMO_CLIENT, `Bearer ${DEMO_TOKEN}`]) {
          expect(sample).toContain(part);
        }
      });
      expect(faults).toEqual([]);
    },
  );

  it('keeps a token in its memory alone', async () => {
    await leaveDialogs();
    const field = page.getByRole('textbox', { name: 'Bearer Token' }).first();
    await field.fill('token-of-a-visitor');
    await page.getByText('token-of-a-visitor').first().waitFor({ state: 'attached' });
    expect(await sampleOf(page, '/products')).toContain('Bearer token-of-a-visitor');
    // Scalar can store credentials, and does so half a second after a change.
    await page.waitForTimeout(2000);
    const kept = await page.context().storageState({ indexedDB: true });
    const session = await page.evaluate('JSON.stringify(sessionStorage)');
    expect(JSON.stringify([kept, session])).not.toContain('token-of-a-visitor');
    await page.reload();
    await page.getByRole('button', { name: 'Test Request' }).first().waitFor();
    expect(await page.content()).not.toContain('token-of-a-visitor');
  });

  it('has its text in the sidebar, a search with a shortcut, and no link to its maker', async () => {
    await leaveDialogs();
    await show(page, 1440, 'light');
    await page.getByRole('complementary').getByText('Keeping a copy').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('keeping a copy');
    await page
      .getByRole('option', { name: /Keeping a copy/ })
      .first()
      .waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/keeping-a-copy/);
    const away = page.locator(`a[href^="http"]:not([href^="${base}"]):visible`);
    expect(await away.evaluateAll((links) => links.map(({ outerHTML }) => outerHTML))).toEqual([]);
    expect(
      await page
        .getByText(/Ask AI|Copy as Markdown|Powered by|MCP/)
        .locator('visible=true')
        .count(),
    ).toBe(0);
    expect(faults).toEqual([]);
  });

  it.each([1280, 800, 390])(
    'covers no text with a button, and shows the response after sending, at %i pixels',
    async (width) => {
      await leaveDialogs();
      await show(page, width, 'light');
      const dialog = page.getByRole('dialog');
      const expectAuthentication = async (scope: Locator): Promise<void> => {
        const header = scope.getByTestId('auth-indicator').locator('visible=true').first();
        const type = scope.getByRole('button', { name: 'Selected Auth Type' }).first();
        await expectApart(header.locator('..').getByText('Authentication'), type);
        await expectApart(header, type);
        const { x, width: ownWidth } = await box(type);
        expect(x + ownWidth).toBeLessThanOrEqual(width);
      };
      await expectAuthentication(page.locator('body'));
      const responses = page.locator('.scalar-card-header-tabs').first();
      const copy = responses.getByRole('button', { name: 'Copy example value' });
      for (const tab of await responses.getByRole('tab').all()) {
        await expectApart(tab, copy);
        expect(contains(await box(responses), await box(tab))).toBe(true);
      }
      await openRequest(page);
      await expectAuthentication(dialog);
      await expectApart(
        dialog.getByRole('button', { name: /Server:/ }),
        dialog.getByRole('button', { name: 'Show sidebar' }),
      );

      const response = dialog.getByRole('region', { name: 'Response' });
      for (const limit of ['1', '2']) {
        // Back from the response to the parameters.
        const value = page.locator('tr#limit').getByRole('textbox').last();
        await value.scrollIntoViewIfNeeded();
        await value.fill(limit);
        await page.getByRole('button', { name: 'Send' }).first().click();
        await response.getByText('200 OK').waitFor();
        await eventually(async () => {
          const status = await box(response.getByText('200 OK'));
          const body = await box(response.getByText('"result"').first());
          const view = await box(dialog);
          expect([status, body].map((each) => contains(view, each))).toEqual([true, true]);
        });
      }
    },
  );

  it('has nothing for axe-core to find at both widths, and follows the scheme of the system', async () => {
    await open();
    const sizes = [
      [1440, 'light', 'all'],
      [1440, 'dark', 'colours'],
      [390, 'dark', 'all'],
      [390, 'light', 'colours'],
    ] as const;
    for (const [width, scheme, rules] of sizes) {
      await show(page, width, scheme);
      await page.locator(`body.${scheme}-mode`).waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(
        width,
      );
      expect(await violations('page', rules)).toEqual([]);
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('products');
    await page.getByRole('option').first().waitFor();
    expect(await violations('dialog')).toEqual([]);
    await page.keyboard.press('Escape');
    await openRequest(page);
    await page.getByRole('button', { name: 'Send' }).first().click();
    await page.getByText('200 OK').first().waitFor();
    expect(await violations('dialog')).toEqual([]);
    await show(page, 1440, 'dark');
    await page.locator('body.dark-mode').waitFor();
    expect(await violations('dialog', 'colours')).toEqual([]);
    expect(faults).toEqual([]);
    if (process.env.SCREENSHOT !== undefined) await takePictures(process.env.SCREENSHOT);
  });

  /** Takes the pictures of the documents, as on a service at its default address. */
  async function takePictures(folder: string): Promise<void> {
    for (const [width, scheme, name] of [
      [1440, 'light', 'page'],
      [1440, 'dark', 'page-dark'],
    ] as const) {
      const page = await browser.newPage();
      await page.route('http://127.0.0.1:3000/**', async (route) => {
        const url = route.request().url().replace(':3000', `:${service.port}`);
        await route.fulfill({ response: await route.fetch({ url }) });
      });
      await show(page, width, scheme);
      await page.goto('http://127.0.0.1:3000/docs#tag/products/GET/products');
      await page.getByRole('button', { name: 'Test Request' }).first().waitFor();
      await page.waitForTimeout(2000);
      await page.screenshot({ path: join(folder, `${name}.png`) });
      await page.close();
    }
  }
});
