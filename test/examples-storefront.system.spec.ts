import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { loadDemonstration } from '../src/demo/load-demonstration.js';
import { describeInBrowser, executablePath } from './chromium.js';
import { type Service, startService, whileOverloaded } from './service.js';
import { eventually } from './until.js';

const FILE = resolve('examples/storefront/index.html');
const LABELS = { PHYSICAL: 'Physical', DIGITAL: 'Digital', SERVICE: 'Service', true: 'In stock' };
/** What `wool bean*` finds. */
const BEANIES = `name || ' ' || description ~* '\\mwool\\M' AND name || ' ' || description ~* '\\mbean'`;
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };

describeInBrowser('The storefront', () => {
  let service: Service;
  let site: Server;
  let browser: Browser;
  /** One for all tests: a window of its own for each takes most of the time. */
  let page: Page;
  /** What no page of this test may have: errors, console messages and requests to other origins. */
  let faults: string[];

  beforeAll(async () => {
    service = await startService({ CORS_ORIGINS: '*' });
    await loadDemonstration(service.dataSource);
    const html = await readFile(FILE);
    site = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html').end(html);
    });
    await once(site.listen(0, '127.0.0.1'), 'listening');
    browser = await chromium.launch({ executablePath });
    page = await browser.newPage();
    page.on('console', (message) => {
      // An error response is one as well; the page shows it.
      if (!message.text().startsWith('Failed to load resource')) faults.push(message.text());
    });
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('request', (request) => {
      const isOurs = ['data:', address(), pathToFileURL(FILE).href, api()].some((start) =>
        request.url().startsWith(start),
      );
      if (!isOurs) faults.push(request.url());
    });
  });
  afterEach(() => {
    expect(faults).toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
    site.close();
    await service.stop();
  });

  function address(): string {
    return `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  }

  function api(): string {
    return `http://127.0.0.1:${service.port}`;
  }

  async function open(hash = '', viewport = DESKTOP, base = address()): Promise<Page> {
    await page.unrouteAll();
    await page.goto('about:blank');
    await page.setViewportSize(viewport);
    faults = [];
    await page.goto(`${base}?api=${api()}#${hash}`);
    return page;
  }

  /** The values of a facet with their counts, as the page shows them. */
  async function facet(page: Page, field: string): Promise<string[][]> {
    const labels = await page.locator(`#${field} label`).all();
    return Promise.all(labels.map((label) => label.locator('span').allTextContents()));
  }

  /** The same from the database, for the products that meet the conditions. */
  async function counted(field: string, conditions: string): Promise<string[][]> {
    const rows: [string, number][] = await select(
      `SELECT "${field}"::text COLLATE "C", count(*)::int FROM products
       WHERE ${conditions} AND "${field}" IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1`,
    );
    const brands = await select<[string, string]>('SELECT "brandID", name FROM brands');
    const labels = new Map([...Object.entries(LABELS), ...brands]);
    return rows
      .filter(([value]) => value !== 'false')
      .map(([value, count]) => [labels.get(value) ?? value, shown(count)]);
  }

  async function select<Row extends unknown[]>(sql: string): Promise<Row[]> {
    const rows: object[] = await service.dataSource.query(sql);
    return rows.map((row) => Object.values(row) as Row);
  }

  async function countOf(conditions: string): Promise<number> {
    const [[count] = [NaN]] = await select<[number]>(
      `SELECT count(*)::int FROM products WHERE ${conditions}`,
    );
    return count;
  }

  function shown(count: number): string {
    return count.toLocaleString('en');
  }

  /** Waits until the page says that it has found this many products. */
  async function expectCount(page: Page, count: number): Promise<void> {
    const text = count === 0 ? 'No product matches.' : `${shown(count)} products`;
    await eventually(async () => {
      expect(await page.locator('#status').textContent()).toBe(text);
      expect(await page.locator('main').getAttribute('aria-busy')).toBe('false');
    });
  }

  function names(page: Page): Promise<string[]> {
    return page.locator('#products h3').allTextContents();
  }

  /** What the page offers where it has found nothing. */
  function offers(page: Page): Promise<string[]> {
    return page.locator('#offers a').allTextContents();
  }

  const EUR = `currency = 'EUR'`;
  /** Each colour, and how many products that meet the conditions have it. */
  async function colours(conditions: string): Promise<string[][]> {
    const rows = await select<[string, number]>(
      `SELECT colour COLLATE "C", count(*)::int FROM products CROSS JOIN unnest(colours) colour
       WHERE ${conditions} GROUP BY 1 ORDER BY 2 DESC, 1`,
    );
    return rows.map(([colour, count]) => [colour, shown(count)]);
  }

  const within = (categoryID: string) => `"categoryID" IN (
    WITH RECURSIVE tree AS (
      SELECT "categoryID" FROM categories WHERE "categoryID" = '${categoryID}'
      UNION ALL SELECT c."categoryID" FROM categories c JOIN tree ON c."parentID" = tree."categoryID"
    ) SELECT "categoryID" FROM tree)`;

  it('shows products with brand and price, the count, and facets in one currency', async () => {
    const page = await open();
    await expectCount(page, await countOf(EUR));
    for (const field of ['inStock', 'type', 'brandID']) {
      expect([field, await facet(page, field)]).toEqual([field, await counted(field, EUR)]);
    }
    const products = await select<[string, string]>(
      `SELECT b.name AS brand, p.name, to_char(price, '€FM999,999,990.00') FROM products p
       JOIN brands b USING ("brandID") WHERE ${EUR} ORDER BY p."createdAt" DESC, "productID" DESC LIMIT 24`,
    );
    const cards = await page.locator('article').all();
    const texts = cards.map(async (card) => [
      await card.locator('p').first().textContent(),
      await card.locator('h3').textContent(),
      await card.locator('b').textContent(),
    ]);
    expect(await Promise.all(texts)).toEqual(products);
  });

  it('narrows by check boxes, whose own counts stay', async () => {
    const page = await open();
    const brands = await counted('brandID', EUR);
    await page.getByLabel('Halvorsund').check();
    const halvorsund = `${EUR} AND "brandID" = 'halvorsund'`;
    await expectCount(page, await countOf(halvorsund));
    expect(await facet(page, 'brandID')).toEqual(brands);
    expect(await facet(page, 'type')).toEqual(await counted('type', halvorsund));
    // The keyboard stays where it was.
    expect(await page.evaluate('document.activeElement.value')).toBe('halvorsund');

    await page.getByLabel('Brasero Alto').check();
    const both = `${EUR} AND "brandID" IN ('halvorsund', 'brasero-alto')`;
    await expectCount(page, await countOf(both));
    await page.getByLabel('In stock').check();
    await expectCount(page, await countOf(`${both} AND stock > 0`));
    expect(await facet(page, 'brandID')).toEqual(await counted('brandID', `${EUR} AND stock > 0`));

    await page.reload();
    await expectCount(page, await countOf(`${both} AND stock > 0`));
    expect(await page.getByLabel('Brasero Alto').isChecked()).toBe(true);
    await page.getByRole('link', { name: 'Halvorsund' }).click();
    await expectCount(page, await countOf(`${EUR} AND "brandID" = 'brasero-alto' AND stock > 0`));
    await page.goBack();
    await expectCount(page, await countOf(`${both} AND stock > 0`));
  });

  it('keeps a chosen value that no product has', async () => {
    const page = await open('brandID=halvorsund&type=SERVICE');
    await expectCount(page, 0);
    expect(await facet(page, 'type')).toEqual([
      ...(await counted('type', `${EUR} AND "brandID" = 'halvorsund'`)),
      ['Service', '0'],
    ]);
  });

  it('opens the category tree, and narrows to a category and all below it', async () => {
    const page = await open();
    const tree = page.getByRole('navigation', { name: 'Categories' });
    /** Categories as the tree shows them: each with the number of products in it and below it. */
    const children = async (condition: string) => {
      const found = await select<[string, string]>(
        `SELECT "categoryID", name FROM categories WHERE ${condition} ORDER BY name COLLATE "C"`,
      );
      return Promise.all(
        found.map(async ([id, name]) => name + shown(await countOf(`${EUR} AND ${within(id)}`))),
      );
    };
    await expectCount(page, await countOf(EUR));
    const top = await children('"parentID" IS NULL');
    expect(await tree.getByRole('link').allTextContents()).toEqual(['All products', ...top]);

    await tree.getByRole('link', { name: 'Kitchen & dining' }).click();
    await expectCount(page, await countOf(`${EUR} AND ${within('kitchen')}`));
    expect(await facet(page, 'brandID')).toEqual(
      await counted('brandID', `${EUR} AND ${within('kitchen')}`),
    );
    const below = await children(`"parentID" = 'kitchen'`);
    expect(await tree.locator('ul ul a').allTextContents()).toEqual(below);

    await tree.getByRole('link', { name: 'Cooking & baking' }).click();
    await tree.getByRole('link', { name: 'Pots & pans' }).click();
    const pans = await countOf(`${EUR} AND "categoryID" = 'kitchen-pans'`);
    await expectCount(page, pans);
    // After a reload the page knows nothing but the identifier of the category.
    await page.reload();
    await expectCount(page, pans);
    expect(await page.locator('h2#title').textContent()).toBe('Pots & pans');
    expect(await tree.locator('[aria-current]').allTextContents()).toEqual([
      `Pots & pans${shown(pans)}`,
    ]);
  });

  it('narrows by colours, and shows the variants of a product', async () => {
    const page = await open();
    await expectCount(page, await countOf(EUR));
    expect(await facet(page, 'colours')).toEqual(await colours(EUR));
    await page.locator('[name=colours][value=blue]').check();
    await page.locator('[name=colours][value=white]').check();
    await expectCount(page, await countOf(`${EUR} AND colours && '{blue,white}'`));
    const [[product, ...names] = []] = await select<string[]>(
      `SELECT p.name, string_agg(v.name, ' · ' ORDER BY "variantID") FROM products p
       JOIN variants v USING ("productID") WHERE p.${EUR} GROUP BY p.name ORDER BY 1 LIMIT 1`,
    );
    const search = new URLSearchParams({ q: product ?? '' }).toString();
    await page.goto(`${address()}?api=${api()}#${search}`);
    const card = page.locator('article', { hasText: product ?? '' });
    await card.first().waitFor();
    expect(await card.first().locator('.variants').allTextContents()).toEqual(names);
  });

  it('has a histogram of prices, whose sliders choose a range by keyboard', async () => {
    const page = await open();
    await expectCount(page, await countOf(EUR));
    const [[least, greatest] = [NaN, NaN]] = await select<[number, number]>(
      `SELECT min(price)::float, max(price)::float FROM products WHERE ${EUR}`,
    );
    const lowest = page.getByLabel('Lowest price');
    const highest = page.getByLabel('Highest price');
    expect(await lowest.getAttribute('aria-valuetext')).toBe('From the least price');
    await lowest.focus();
    await page.keyboard.press('ArrowRight');
    const from = await eventually(async () => {
      const value = Number(await page.getByLabel('From', { exact: true }).inputValue());
      expect(value).toBeGreaterThan(least);
      return value;
    });
    await expectCount(page, await countOf(`${EUR} AND price >= ${from}`));
    expect(await page.evaluate('document.activeElement.id')).toBe('lowest');
    expect(await page.locator('#bars .beyond').count()).toBe(1);
    await highest.focus();
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    const upTo = await eventually(async () => {
      const value = Number(await page.getByLabel('Up to', { exact: true }).inputValue());
      expect(value).toBeGreaterThan(from);
      return value;
    });
    expect(upTo).toBeLessThan(greatest);
    await expectCount(page, await countOf(`${EUR} AND price BETWEEN ${from} AND ${upTo}`));
    // The bars count all prices, whatever the sliders say.
    const counts = await select<[number]>(
      `SELECT count("productID")::int FROM generate_series(0, ${Math.floor(greatest / from)}) at
       LEFT JOIN products ON ${EUR} AND floor(price / ${from}) = at GROUP BY at ORDER BY at`,
    );
    const most = Math.max(...counts.flat());
    const heights = await page.evaluate(
      'Array.from(document.querySelectorAll("#bars i"), ({ style }) => style.height)',
    );
    expect(heights).toEqual(counts.map(([count]) => `${Math.ceil((100 * count) / most)}%`));
  });

  it.each([
    ['desktop', { width: 1280, height: 900 }, 'light'],
    ['desktop', { width: 1280, height: 900 }, 'dark'],
    ['phone', PHONE, 'light'],
    ['phone', PHONE, 'dark'],
  ] as const)(
    'has nothing for axe-core to find on a %s with %p, %s',
    async (_, viewport, scheme) => {
      await page.emulateMedia({ colorScheme: scheme });
      try {
        await open('within=kitchen', viewport);
        await expectCount(page, await countOf(`${EUR} AND ${within('kitchen')}`));
        if (viewport === PHONE) await page.getByText('Filters', { exact: true }).click();
        await page.evaluate(axe.source);
        const { violations } = await page.evaluate<axe.AxeResults>(
          'axe.run(document, { resultTypes: ["violations"] })',
        );
        expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
      } finally {
        await page.emulateMedia({ colorScheme: null });
      }
    },
  );

  it('searches while one types, with one request, and aborts an earlier one', async () => {
    const page = await open();
    await expectCount(page, await countOf(EUR));
    const searches: string[] = [];
    const aborted: string[] = [];
    const search = (url: string) => new URL(url).searchParams.get('q') ?? '';
    const isList = (url: string) => new URL(url).pathname === '/products';
    page.on('request', (request) => {
      if (request.method() === 'GET' && isList(request.url())) searches.push(search(request.url()));
    });
    page.on('requestfailed', (request) => {
      if (isList(request.url())) aborted.push(search(request.url()));
    });
    const box = page.getByRole('searchbox', { name: 'Search products' });
    // All at once: a pause on a busy machine would be the end of a word.
    await box.evaluate((input: EventTarget & { value: string }) => {
      for (let length = 1; length <= 'wool bean'.length; length += 1) {
        input.value = 'wool bean'.slice(0, length);
        input.dispatchEvent(new Event('input', { bubbles: true }));
      }
    });
    await expectCount(page, await countOf(`${EUR} AND ${BEANIES}`));
    expect(searches).toEqual(['wool bean*']);
    expect(await page.getByLabel('Sort by').inputValue()).toBe('relevance');

    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route(
      (url) => url.pathname === '/products' && url.searchParams.get('q') === 'wool*',
      async (route) => {
        await held;
        await route.abort();
      },
    );
    await box.fill('wool');
    await eventually(() => {
      expect(searches.at(-1)).toBe('wool*');
    });
    await box.fill('wool bean');
    await expectCount(page, await countOf(`${EUR} AND ${BEANIES}`));
    expect(aborted).toEqual(['wool*']);
    release();

    // One search is one step in the history.
    await page.goBack();
    await expectCount(page, await countOf(EUR));
    expect(await box.inputValue()).toBe('');
  });

  it('searches with Enter as while one types, and for a single character, too', async () => {
    const page = await open();
    const box = page.getByRole('searchbox', { name: 'Search products' });
    const beanies = await countOf(`${EUR} AND ${BEANIES}`);
    expect(beanies).toBeGreaterThan(1);
    await box.fill('wool bean');
    await box.press('Enter');
    await expectCount(page, beanies);
    await box.press('Enter');
    await expectCount(page, beanies);
    expect(new URL(page.url()).hash).toBe('#q=wool+bean*');

    await box.fill('wool b');
    await expectCount(page, await countOf(`${EUR} AND name || ' ' || description ~* '\\mwool'`));
    expect(await box.inputValue()).toBe('wool b');
    await box.press('Enter');
    await eventually(() => {
      expect(new URL(page.url()).hash).toBe('#q=wool+b');
    });
  });

  it('offers the exact search that finds a reference', async () => {
    const page = await open();
    const box = page.getByRole('searchbox', { name: 'Search products' });
    await box.fill('HVS-72445-CRM');
    await box.press('Enter');
    await expectCount(page, 0);
    const all = `Without “HVS-72445-CRM”: ${shown(await countOf(EUR))} products`;
    expect(await offers(page)).toEqual(['Exactly “HVS-72445-CRM”: 1 product', all]);
    await page.getByRole('link', { name: /^Exactly/ }).press('Enter');
    const found = async () => {
      await eventually(async () => {
        expect(await names(page)).toEqual(['Halvorsund Tind wool beanie, cream']);
      });
      expect(await page.locator('#status').textContent()).toBe('1 product');
    };
    await found();
    expect(await offers(page)).toEqual([]);
    // The search stays as it is if nothing else is typed.
    expect(await box.inputValue()).toBe('HVS-72445-CRM');
    await box.press('Enter');
    await found();
  });

  it('offers what to leave out where nothing is found, if that finds something', async () => {
    const wool = `name || ' ' || description ~* '\\mwool\\M'`;
    const halvorsund = `"brandID" = 'halvorsund'`;
    const page = await open('q=wool+xyzzy*&brandID=halvorsund,brasero-alto');
    await expectCount(page, 0);
    const brands = `${EUR} AND "brandID" IN ('halvorsund', 'brasero-alto')`;
    const [left, all] = [await countOf(`${brands} AND ${wool}`), await countOf(brands)];
    expect(await offers(page)).toEqual([
      `Without “xyzzy”: ${shown(left)} products`,
      `Without “wool xyzzy”: ${shown(all)} products`,
    ]);
    // Each is a link that the keyboard reaches, and the next one is on the way.
    const links = page.getByRole('list', { name: 'What to leave out' }).getByRole('link');
    await links.first().focus();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe(
      (await offers(page)).at(-1),
    );
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await expectCount(page, left);
    expect(await page.evaluate('document.activeElement.id')).toBe('results');

    await page.goto(`${address()}?api=${api()}#type=SERVICE&brandID=halvorsund`);
    await expectCount(page, 0);
    expect(await offers(page)).toEqual([
      `Without Service: ${shown(await countOf(`${EUR} AND ${halvorsund}`))} products`,
      `Without Halvorsund: ${shown(await countOf(`${EUR} AND type = 'SERVICE'`))} products`,
    ]);

    // Neither alone finds anything.
    await page.goto(`${address()}?api=${api()}#type=SERVICE&brandID=halvorsund&q=xyzzy`);
    await expectCount(page, 0);
    expect(await offers(page)).toEqual(['All products']);
    await links.press('Enter');
    await expectCount(page, await countOf(EUR));
  });

  it('offers all currencies where nothing has a price in the chosen one', async () => {
    const [[name] = ['']] = await select<[string]>(
      `SELECT name FROM products WHERE currency <> 'EUR' ORDER BY "productID" LIMIT 1`,
    );
    const page = await open(new URLSearchParams({ q: name }).toString());
    await expectCount(page, 0);
    expect(await offers(page)).toContain('In all currencies: 1 product');
    await page.getByRole('link', { name: /^In all currencies/ }).click();
    await eventually(async () => {
      expect(await names(page)).toEqual([name]);
    });
  });

  it('sorts by price in the currency chosen, and not in all of them', async () => {
    const page = await open();
    await page.getByLabel('Sort by').selectOption('Price, high to low');
    const dearest = await select<[string]>(
      `SELECT name FROM products WHERE ${EUR} ORDER BY price DESC, "productID" DESC LIMIT 24`,
    );
    await eventually(async () => {
      expect(await names(page)).toEqual(dearest.flat());
    });
    await page.getByLabel('Currency').selectOption('JPY');
    await expectCount(page, await countOf(`currency = 'JPY'`));
    const [most] = await page.locator('article b').allTextContents();
    const [[price] = ['']] = await select<[string]>(
      `SELECT to_char(max(price), '¥FM999,999,999') FROM products WHERE currency = 'JPY'`,
    );
    expect(most).toBe(price);
    await page.getByLabel('Currency').selectOption('All, also without a price');
    await expectCount(page, 3000);
    expect(await page.getByLabel('Sort by').inputValue()).toBe('-createdAt');
    expect(await page.locator('[value="-price"]').isDisabled()).toBe(true);
  });

  it('goes from page to page by the links of the response', async () => {
    const page = await open('sort=name');
    const all = (
      await select<[string]>(
        `SELECT name FROM products WHERE ${EUR} ORDER BY name COLLATE "C", "productID"`,
      )
    ).flat();
    const last = Math.floor(all.length / 24) * 24;
    const pages = page.getByRole('navigation', { name: 'Pages' });
    for (const [relation, offset] of [
      ['', 0],
      ['Next', 24],
      ['Next', 48],
      ['Previous', 24],
      ['Last', last],
      ['First', 0],
    ] as const) {
      if (relation !== '') await pages.getByRole('link', { name: relation }).click();
      await eventually(async () => {
        expect(await names(page)).toEqual(all.slice(offset, offset + 24));
      });
      const [number, count] = [offset, last].map((at) => at / 24 + 1);
      expect(await pages.locator('span').textContent()).toBe(`Page ${number} of ${count}`);
    }
    await page.goBack();
    await eventually(async () => {
      expect(await names(page)).toEqual(all.slice(last));
    });
  });

  it.each([
    ['colour=red', 'The parameter colour must not be present in this request. (-23, request '],
    ['priceMin=cheap', 'The parameter priceMin must be a decimal'],
    ['within=nowhere', 'There is no categories object nowhere. (-31, request '],
  ])('shows the error for #%s', async (hash, message) => {
    const page = await open(hash);
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toContain(message);
    await page.locator('#chosen a').click();
    await expectCount(page, await countOf(EUR));
    expect(await alert.isVisible()).toBe(false);
  });

  it('waits when the service is busy, and gives up after some tries', async () => {
    const status = 'The service is busy. Trying again in 1 s.';
    const page = await whileOverloaded(service, async () => {
      const busy = await open();
      await busy.getByText(status).waitFor();
      return busy;
    });
    await expectCount(page, await countOf(EUR));
    await whileOverloaded(service, async () => {
      const alert = (await open()).getByRole('alert');
      await alert.waitFor();
      expect(await alert.textContent()).toContain('The service is busy. (-4, request ');
    });
  });

  it('says so when the service cannot be reached', async () => {
    const page = await open();
    await page.goto(`${address()}?api=http://127.0.0.1:1`);
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toMatch(
      /^The catalogue at http:\/\/127\.0\.0\.1:1 cannot be/,
    );
    expect(faults).not.toEqual([]);
    faults = [];
  });

  it('takes text for text', async () => {
    const markup = '<img src=x onerror=alert(1)>';
    await service.load('brands', [{ brandID: markup, name: markup }]);
    await service.load('products', [
      { productID: markup, type: 'DIGITAL', name: markup, description: markup, brandID: markup },
    ]);
    try {
      const page = await open(
        `currency=any&${new URLSearchParams({ brandID: markup }).toString()}`,
      );
      await eventually(async () => {
        expect(await names(page)).toEqual([markup]);
      });
      expect(await page.locator('#chosen').textContent()).toBe(markup);
      expect(await page.getByLabel(markup).isChecked()).toBe(true);
      expect(await page.locator('img').count()).toBe(0);
    } finally {
      await service.dataSource.query('DELETE FROM products WHERE "productID" = $1', [markup]);
      await service.dataSource.query('DELETE FROM brands WHERE "brandID" = $1', [markup]);
    }
  });

  it('works as a file, whose origin is null', async () => {
    const page = await open('', DESKTOP, pathToFileURL(FILE).href);
    await page.getByLabel('Halvorsund').check();
    await expectCount(page, await countOf(`${EUR} AND "brandID" = 'halvorsund'`));
  });

  it.each([
    ['desktop', DESKTOP, ''],
    ['phone', PHONE, '-phone'],
  ])('fits a %s', async (_, viewport, suffix) => {
    const page = await open('within=office&q=black*&inStock=true', viewport);
    const black = `name || ' ' || description ~* '\\mblack'`;
    await expectCount(
      page,
      await countOf(`${EUR} AND ${within('office')} AND ${black} AND stock > 0`),
    );
    const fits = async () =>
      (await page.evaluate('document.documentElement.scrollWidth')) === viewport.width;
    expect(await fits()).toBe(true);
    const { SCREENSHOT } = process.env;
    if (SCREENSHOT !== undefined) {
      await page.screenshot({ path: SCREENSHOT.replace(/(?=\.png$)/, suffix) });
    }
    // On a phone the filters are folded.
    const facets = page.locator('#brandID');
    expect(await facets.isVisible()).toBe(viewport === DESKTOP);
    if (viewport === PHONE) await page.getByText('Filters', { exact: true }).click();
    expect(await facets.isVisible()).toBe(true);
    expect(await fits()).toBe(true);
  });
});
