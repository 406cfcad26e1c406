import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';
import { DEMO_CLIENT, DEMO_TOKEN, loadDemonstration } from '../../src/demo/load-demonstration.js';
import { describeInBrowser, executablePath } from '../chromium.js';
import { type Service, startService } from '../service.js';

// A browser is slow on a busy machine.
jest.setTimeout(90_000);

let service: Service;

beforeAll(async () => {
  // As on the embedded database, whose demonstration client is public.
  service = await startService({ DATABASE_URL: '', RATE_LIMIT_PER_MINUTE: '600' });
  await loadDemonstration(service.dataSource);
});
afterAll(() => service.stop());

describe('The front page', () => {
  it('leads browsers to the documentation, and has nothing for anybody else', async () => {
    for (const accept of ['text/html', 'text/html,application/xhtml+xml,*/*;q=0.8']) {
      const response = await service.anonymous().get('/').set('Accept', accept).expect(302);
      expect(response.headers.location).toBe('/docs');
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
    expect(parts).toHaveLength(5);
    for (const part of parts) {
      const { headers } = await service.anonymous().get(`/${part}`).expect(200);
      expect(headers['content-security-policy']).toBe("default-src 'none';frame-ancestors 'none'");
    }
    await service.anonymous().get('/docs/swagger-initializer.js').expect(404);
    await service.anonymous().get('/docs/../package.json').expect(404);
  });

  it('carries credentials on the embedded database alone', async () => {
    const script = await service.anonymous().get('/docs/start.js').expect(200);
    expect(script.text).toContain(JSON.stringify([DEMO_CLIENT, DEMO_TOKEN]));
    const other = await startService();
    const { text } = await other.anonymous().get('/docs/start.js').expect(200);
    expect(text).not.toContain(DEMO_TOKEN);
    await other.stop();
  });
});

describeInBrowser('In a browser, /docs', () => {
  let browser: Browser;

  beforeAll(async () => {
    browser = await chromium.launch({ executablePath });
  });
  afterAll(() => browser.close());

  /** Opens the page. Collects console messages, errors and requests to other origins as faults. */
  async function open(width: number, height: number): Promise<{ page: Page; faults: string[] }> {
    const page = await browser.newPage({ viewport: { width, height } });
    const faults: string[] = [];
    const origin = `http://127.0.0.1:${service.port}/`;
    page.on('console', (message) => faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('request', (request) => {
      const isOurs = ['data:', origin].some((start) => request.url().startsWith(start));
      if (!isOurs) faults.push(request.url());
    });
    await page.goto(origin);
    await page.locator('#operations-products-listProducts .opblock-summary-control').click();
    await page.locator('.try-out__btn').click();
    return { page, faults };
  }

  it('sends what was filled in, and shows the envelope', async () => {
    const { page, faults } = await open(1100, 900);
    const row = (name: string) => page.locator(`tr[data-param-name="${name}"]`);
    await row('limit').locator('input').fill('2');
    await row('type').locator('select').selectOption('PHYSICAL');
    await row('fields').locator('select').selectOption(['productID', 'refID']);
    await page.locator('.execute').click();
    const answer = page.locator('.live-responses-table .response .highlight-code').first();
    await answer.waitFor();
    const [text] = await answer.locator('code').allTextContents();
    expect(JSON.parse(text ?? '')).toMatchObject({
      result: { status: 'OK', errcode: '0', msg: '' },
      response_data: {
        count: '2779',
        objects: [{ productID: 'p-000001' }, { productID: 'p-000002' }],
      },
    });
    expect(await page.locator('.request-url').first().textContent()).not.toContain('access_token');
    expect(faults).toEqual([]);
    if (process.env.SCREENSHOT !== undefined) {
      await page
        .locator('.execute-wrapper, .btn-group')
        .first()
        .evaluate((element) => {
          element.scrollIntoView();
        });
      await page.screenshot({ path: process.env.SCREENSHOT });
    }
  });

  it('fits a phone', async () => {
    const { page, faults } = await open(390, 844);
    await page.locator('.execute').click();
    await page.locator('.live-responses-table').waitFor();
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width).toBeLessThanOrEqual(390);
    expect(faults).toEqual([]);
  });
});
