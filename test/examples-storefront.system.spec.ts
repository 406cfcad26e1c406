import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { loadDemonstration } from '#server/demo/load-demonstration.js';
import { naturalKey } from '#server/testing/natural-key.js';
import { PROJECT } from './project.js';
import { describeInBrowser, executablePath } from './chromium.js';
import { type Service, startService, whileOverloaded } from './service.js';
import { eventually } from './until.js';

const FILE = resolve('examples/storefront/index.html');
const LABELS = { PHYSICAL: 'Physical', DIGITAL: 'Digital', SERVICE: 'Service', true: 'In stock' };
/** What `wool bean*` finds. */
const BEANIES = `name || ' ' || description ~* '\\mwool\\M' AND name || ' ' || description ~* '\\mbean'`;
const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 390, height: 844 };

/** Equal names stay as they are. */
function inNaturalOrder<T>(rows: readonly T[], nameOf: (row: T) => string): T[] {
  const place = (row: T) => naturalKey(nameOf(row));
  return rows.toSorted((one, other) =>
    place(one) < place(other) ? -1 : Number(place(one) > place(other)),
  );
}

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
    await loadDemonstration(PROJECT, service.dataSource);
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

  /** Whether nothing cuts off the ring of what has the focus. */
  function ringOf(page: Page): Promise<{ isWhole: boolean }> {
    return page.evaluate(`(() => {
      const { outlineWidth, outlineOffset, outlineStyle } = getComputedStyle(document.activeElement);
      const around = parseFloat(outlineWidth) + parseFloat(outlineOffset);
      const { left, top, right, bottom } = document.activeElement.getBoundingClientRect();
      let isWhole = outlineStyle !== 'none' && top >= around && bottom + around <= innerHeight;
      for (let at = document.activeElement.parentElement; at; at = at.parentElement) {
        if (getComputedStyle(at).overflowY === 'visible') continue;
        const clip = at.getBoundingClientRect();
        isWhole &&= left - around >= clip.left && right + around <= clip.right;
        isWhole &&= top - around >= clip.top && bottom + around <= clip.bottom;
      }
      return { isWhole };
    })()`);
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
    const isHalvorsund = ([name]: string[]) => name === 'Halvorsund';
    expect(await facet(page, 'brandID')).toEqual([
      ...brands.filter(isHalvorsund),
      ...brands.filter((brand) => !isHalvorsund(brand)),
    ]);
    expect(await facet(page, 'type')).toEqual(await counted('type', halvorsund));
    // The keyboard stays where it was.
    expect(await page.evaluate('document.activeElement.value')).toBe('halvorsund');

    await page.getByLabel('Brasero Alto').check();
    const both = `${EUR} AND "brandID" IN ('halvorsund', 'brasero-alto')`;
    await expectCount(page, await countOf(both));
    await page.getByLabel('In stock').check();
    await expectCount(page, await countOf(`${both} AND stock > 0`));
    const inStock = await counted('brandID', `${EUR} AND stock > 0`);
    expect((await facet(page, 'brandID')).sort()).toEqual(inStock.sort());

    await page.reload();
    await expectCount(page, await countOf(`${both} AND stock > 0`));
    expect(await page.getByLabel('Brasero Alto').isChecked()).toBe(true);
    await page.getByRole('link', { name: 'Halvorsund', exact: true }).click();
    await expectCount(page, await countOf(`${EUR} AND "brandID" = 'brasero-alto' AND stock > 0`));
    await page.goBack();
    await expectCount(page, await countOf(`${both} AND stock > 0`));
  });

  it('has chosen values first, also one that no product has', async () => {
    const page = await open('brandID=halvorsund&type=SERVICE');
    await expectCount(page, 0);
    expect(await facet(page, 'type')).toEqual([
      ['Service', '0'],
      ...(await counted('type', `${EUR} AND "brandID" = 'halvorsund'`)),
    ]);
    // The keyboard follows a check box to its new place.
    await page.goto(`${address()}?api=${api()}`);
    await expectCount(page, await countOf(EUR));
    const last = page.locator('#brandID input').last();
    const value = await last.getAttribute('value');
    await last.press('Space');
    await expectCount(page, await countOf(`${EUR} AND "brandID" = '${value}'`));
    const first = page.locator('#brandID input').first();
    expect(await first.evaluate((box) => box.matches(':checked:focus'))).toBe(true);
    expect(await ringOf(page)).toEqual({ isWhole: true });
  });

  it.each([
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ])('shows the whole ring of whatever the keyboard is on, on a %s', async (_, viewport) => {
    const page = await open('', viewport);
    await expectCount(page, await countOf(EUR));
    if (viewport === PHONE) await page.locator('#filters > summary').press('Enter');
    const boxes = await page.locator('#filters input[type=checkbox]').count();
    expect(boxes).toBeGreaterThan(20);
    await page.locator('#filters input').first().focus();
    for (const key of [
      ...Array<string>(boxes).fill('Tab'),
      ...Array<string>(9).fill('Shift+Tab'),
    ]) {
      expect(await ringOf(page)).toEqual({ isWhole: true });
      await page.keyboard.press(key);
    }
  });

  it('has filters that can be skipped', async () => {
    const page = await open();
    await expectCount(page, await countOf(EUR));
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').textContent()).toBe('Skip to the products');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').getAttribute('name')).toBe('sort');
  });

  it('opens the category tree, and narrows to a category and all below it', async () => {
    const page = await open();
    const tree = page.getByRole('navigation', { name: 'Categories' });
    /** Categories as the tree shows them: each with the number of products in it and below it. */
    const children = async (condition: string) => {
      const found = await select<[string, string]>(
        `SELECT "categoryID", name FROM categories WHERE ${condition}`,
      );
      return Promise.all(
        inNaturalOrder(found, ([, name]) => name).map(
          async ([id, name]) => name + shown(await countOf(`${EUR} AND ${within(id)}`)),
        ),
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

  it('has a histogram of prices that takes its intervals from them', async () => {
    const page = await open();
    await expectCount(page, await countOf(EUR));
    const bounds = await page
      .locator('#lowest')
      .evaluate((slider) => (slider as unknown as { bounds: string[] }).bounds.slice(1, -1));
    const counts = (
      await select<[number]>(
        `SELECT count("productID")::int FROM generate_series(0, ${bounds.length}) at
         LEFT JOIN products ON ${EUR} AND width_bucket(price, '{${bounds.join()}}') = at
         GROUP BY at ORDER BY at`,
      )
    ).flat();
    const most = Math.max(...counts);
    expect(counts.length).toBeGreaterThan(10);
    expect(counts.filter((count) => count > 0).length).toBeGreaterThan(10);
    expect(most).toBeLessThan((await countOf(EUR)) / 4);
    const heights = await page.evaluate(
      'Array.from(document.querySelectorAll("#bars i"), ({ style }) => style.height)',
    );
    expect(heights).toEqual(counts.map((count) => `${Math.ceil((100 * count) / most)}%`));
  });

  it('has sliders that choose a range of prices by keyboard, and never cross', async () => {
    const page = await open();
    await expectCount(page, await countOf(EUR));
    const lowest = page.getByLabel('Lowest price');
    const highest = page.getByLabel('Highest price');
    const from = page.getByLabel('From', { exact: true });
    const upTo = page.getByLabel('Up to', { exact: true });
    /** The positions of the sliders, and the prices that are chosen. */
    const chosen = async () => [
      ...(await Promise.all([lowest, highest].map((slider) => slider.inputValue()))).map(Number),
      ...(await Promise.all([from, upTo].map((box) => box.inputValue()))),
    ];
    const end = await page.locator('#bars i').count();
    expect(await chosen()).toEqual([0, end, '', '']);
    expect(await lowest.getAttribute('aria-valuetext')).toBe('From the least price');
    expect(await highest.getAttribute('aria-valuetext')).toBe('Up to the greatest price');
    const bounds = await lowest.evaluate(
      (slider) => (slider as unknown as { bounds: string[] }).bounds,
    );
    const [, first = '', second = ''] = bounds;

    // Each key is one step, also while the list is still on its way.
    await lowest.press('ArrowRight');
    await lowest.press('ArrowRight');
    await expectCount(page, await countOf(`${EUR} AND price >= ${second}`));
    expect(await chosen()).toEqual([2, end, second, '']);
    expect(await page.evaluate('document.activeElement.id')).toBe('lowest');
    expect(await page.locator('#bars .beyond').count()).toBe(2);
    await highest.press('ArrowLeft');
    const dearest = bounds[end - 1] ?? '';
    await expectCount(page, await countOf(`${EUR} AND price BETWEEN ${second} AND ${dearest}`));
    expect(await chosen()).toEqual([2, end - 1, second, dearest]);

    // One interval is between them at least.
    await highest.press('Home');
    const third = bounds[3] ?? '';
    await expectCount(page, await countOf(`${EUR} AND price BETWEEN ${second} AND ${third}`));
    expect(await chosen()).toEqual([2, 3, second, third]);
    await lowest.press('End');
    expect(await chosen()).toEqual([2, 3, second, third]);
    await lowest.press('Home');
    await expectCount(page, await countOf(`${EUR} AND price <= ${third}`));
    await highest.press('End');
    await expectCount(page, await countOf(EUR));
    expect(await chosen()).toEqual([0, end, '', '']);

    // A slider leaves alone what was typed for the other one.
    const typed = (Number(first) + Number(second)) / 2;
    await from.fill(String(typed));
    await from.press('Enter');
    await highest.press('ArrowLeft');
    await expectCount(page, await countOf(`${EUR} AND price BETWEEN ${typed} AND ${dearest}`));
    expect(await chosen()).toEqual([1, end - 1, String(typed), dearest]);
  });

  it('takes a price with a decimal comma, and says what a price is', async () => {
    const page = await open();
    await expectCount(page, await countOf(EUR));
    const from = page.getByLabel('From', { exact: true });
    await from.fill('19,99');
    await from.press('Enter');
    await expectCount(page, await countOf(`${EUR} AND price >= 19.99`));
    expect(await from.inputValue()).toBe('19.99');
    const hint = page.getByRole('alert');
    for (const text of ['cheap', '-1', '1.299,00']) {
      await from.fill(text);
      await from.press('Enter');
      await hint.waitFor();
      expect(await hint.textContent()).toBe('Enter a price such as 20 or 19.99.');
      expect(new URL(page.url()).hash).toBe('#priceMin=19.99');
    }
    await from.fill('');
    await from.press('Enter');
    await expectCount(page, await countOf(EUR));
    expect(await hint.isVisible()).toBe(false);
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
        if (viewport === PHONE) await page.locator('#filters > summary').click();
        await page.evaluate(axe.source);
        const expectNone = async () => {
          const { violations } = await page.evaluate<axe.AxeResults>(
            'axe.run(document, { resultTypes: ["violations"] })',
          );
          const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
          expect(found).toEqual([]);
        };
        await expectNone();
        await page.locator('article a').first().press('Enter');
        await page.getByRole('dialog').waitFor();
        await expectNone();
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
    /** Other requests count what the currency leaves out. */
    const isList = (url: string) =>
      new URL(url).pathname === '/products' && !url.includes('limit=0');
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

  it('finds a reference as it is typed, and offers the exact search that finds an identifier', async () => {
    const page = await open();
    const box = page.getByRole('searchbox', { name: 'Search products' });
    await box.fill('hvs-72445-cr');
    await box.press('Enter');
    await eventually(async () => {
      expect(await page.locator('#status').textContent()).toBe('1 product');
    });
    await box.fill('p-000001');
    await box.press('Enter');
    await expectCount(page, 0);
    const all = `Without “p-000001”: ${shown(await countOf(EUR))} products`;
    expect(await offers(page)).toEqual(['Exactly “p-000001”: 1 product', all]);
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
    expect(await box.inputValue()).toBe('p-000001');
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

  it('says how many products the currency leaves out, and shows them', async () => {
    const page = await open();
    const link = page.getByRole('link', { name: /^Also show/ });
    const left = 3000 - (await countOf(EUR));
    await link.waitFor();
    expect(await link.textContent()).toBe(
      `Also show ${left} products in other currencies or without a price`,
    );
    await link.click();
    await expectCount(page, 3000);
    expect(await link.count()).toBe(0);

    const [[name] = ['']] = await select<[string]>(
      `SELECT name FROM products WHERE currency <> 'EUR' ORDER BY "productID" LIMIT 1`,
    );
    const search = new URLSearchParams({ q: name }).toString();
    await page.goto(`${address()}?api=${api()}#${search}`);
    await expectCount(page, 0);
    expect(await link.textContent()).toMatch(/^Also show 1 product in/);
    await link.click();
    await eventually(async () => {
      expect(await names(page)).toEqual([name]);
    });
  });

  it('removes all filters at once', async () => {
    const page = await open('brandID=halvorsund&inStock=true&priceMin=20&currency=USD&sort=name');
    await page.getByRole('link', { name: 'Remove all filters' }).press('Enter');
    await expectCount(page, await countOf(`currency = 'USD'`));
    expect(new URL(page.url()).hash).toBe('#currency=USD&sort=name');
    expect(await page.locator('#chosen a').count()).toBe(0);
  });

  it('has the number of filters and of products beside the button that folds them', async () => {
    const page = await open('brandID=halvorsund,brasero-alto&inStock=true', PHONE);
    const count = await countOf(
      `${EUR} AND "brandID" IN ('halvorsund', 'brasero-alto') AND stock > 0`,
    );
    await expectCount(page, count);
    const summary = page.locator('#filters > summary');
    const text = () => summary.innerText().then((words) => words.replace(/\s+/g, ' '));
    expect(await text()).toBe(`Filters 3 in use · ${shown(count)} products`);
    // It stays in view.
    await summary.press('Enter');
    await page.getByLabel('In stock').uncheck();
    const less = await countOf(`${EUR} AND "brandID" IN ('halvorsund', 'brasero-alto')`);
    await expectCount(page, less);
    await page.getByLabel('Up to', { exact: true }).focus();
    const { y = NaN } = (await summary.boundingBox()) ?? {};
    expect(y).toBeGreaterThanOrEqual(0);
    expect(y).toBeLessThan(PHONE.height / 2);
    expect(await text()).toBe(`Filters 2 in use · ${shown(less)} products`);
  });

  it.each([
    ['desktop', DESKTOP],
    ['phone', PHONE],
  ])('opens a product by keyboard, at an address of its own, on a %s', async (_, viewport) => {
    const [[productID, name, refID, brand, price] = []] = await select<string[]>(
      `SELECT "productID", p.name, "refID", b.name AS brand, to_char(price, '€FM999,990.00')
       FROM products p JOIN brands b USING ("brandID")
       WHERE EXISTS (SELECT FROM variants v WHERE v."productID" = p."productID") AND p.${EUR}
       ORDER BY p."createdAt" DESC, "productID" DESC LIMIT 1`,
    );
    const variants = await select<[string, string]>(
      `SELECT name, to_char(price, '€FM999,990.00') FROM variants
       WHERE "productID" = '${productID}' ORDER BY "variantID"`,
    );
    const hash = new URLSearchParams({ q: name ?? '' }).toString();
    const page = await open(hash, viewport);
    const dialog = page.getByRole('dialog', { name });
    const link = page.locator('article').getByRole('link', { name, exact: true });
    await link.press('Enter');
    await dialog.waitFor();
    for (const text of [refID, brand, price]) expect(await dialog.textContent()).toContain(text);
    const rows = await dialog.getByRole('table', { name: 'Variants' }).getByRole('row').all();
    const cells = rows.map(async (row) => [
      await row.getByRole('rowheader').textContent(),
      await row.getByRole('cell').last().textContent(),
    ]);
    expect(await Promise.all(cells)).toEqual(variants);
    expect(await page.title()).toBe(`${name} – Storefront`);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
    // The keyboard is in the dialog, and stays there.
    const isInside = () => page.evaluate('document.activeElement.closest("dialog") !== null');
    expect(await isInside()).toBe(true);
    expect(new URL(page.url()).hash).toBe(`#${hash}&product=${productID}`);

    // Each way out leads to the list, where the keyboard was.
    const expectList = async () => {
      await dialog.waitFor({ state: 'hidden' });
      await eventually(async () => {
        expect(new URL(page.url()).hash).toBe(`#${hash}`);
        expect(await page.evaluate('document.activeElement.textContent')).toBe(name);
        expect(await page.title()).toBe(`Results for “${name}” – Storefront`);
      });
    };
    await page.goBack();
    await expectList();
    await page.goForward();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await expectList();
    await link.click();
    await dialog.getByRole('button', { name: 'Close' }).press('Enter');
    await expectList();

    // The address alone opens it, above its list.
    await page.goto('about:blank');
    await page.goto(`${address()}?api=${api()}#${hash}&product=${productID}`);
    await dialog.waitFor();
    await link.waitFor();
    await page.keyboard.press('Escape');
    await expectList();
  });

  it('says so when a product is gone', async () => {
    const page = await open('product=p-gone');
    const dialog = page.getByRole('dialog', { name: 'The shop does not have this product' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await expectCount(page, await countOf(EUR));
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
    const rows = await select<[string]>(
      `SELECT name FROM products WHERE ${EUR} ORDER BY "productID"`,
    );
    const all = inNaturalOrder(rows.flat(), (name) => name);
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

  it('leads from a page beyond the end to the last one', async () => {
    const page = await open('offset=24000&brandID=halvorsund');
    const count = await countOf(`${EUR} AND "brandID" = 'halvorsund'`);
    await expectCount(page, count);
    const last = Math.ceil(count / 24);
    expect(await page.locator('#pages span').textContent()).toBe(`Page ${last} of ${last}`);
    expect((await names(page)).length).toBe(count - 24 * (last - 1));
    await page.goto(`${address()}?api=${api()}#offset=24000&q=xyzzy`);
    await expectCount(page, 0);
  });

  it.each([
    ['colour=red', 'The parameter colour must not be present in this request. (-23, request '],
    ['priceMin=cheap', 'The parameter priceMin must be a decimal'],
    ['within=nowhere', 'There is no categories object nowhere. (-31, request '],
  ])('shows the error for #%s', async (hash, message) => {
    const page = await open(hash);
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.innerText()).toBe(
      'The shop cannot read this address. Remove a filter, or see all products.\n\nDetails',
    );
    // For whoever made the link.
    await alert.getByText('Details').click();
    expect(await alert.innerText()).toContain(message);
    expect(await offers(page)).toEqual(['All products']);
    await page.locator('#chosen a').first().click();
    await expectCount(page, await countOf(EUR));
    expect(await alert.isVisible()).toBe(false);
  });

  it('waits when the service is busy, and gives up after some tries', async () => {
    const status = 'The service is busy. Trying again in 1 s.';
    // For as long, Chromium shows what it has kept (stale-while-revalidate).
    const kept = () => new Promise((resolve) => setTimeout(resolve, 4000));
    await kept();
    const page = await whileOverloaded(service, async () => {
      const busy = await open();
      await busy.getByText(status).waitFor();
      return busy;
    });
    await expectCount(page, await countOf(EUR));
    await kept();
    await whileOverloaded(service, async () => {
      const alert = (await open()).getByRole('alert');
      await alert.waitFor();
      expect(await alert.locator('p').textContent()).toBe(
        'The shop cannot answer now. Try again later.',
      );
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
      expect(await page.locator('#chosen a').first().textContent()).toBe(markup);
      expect(await page.getByLabel(markup).isChecked()).toBe(true);
      await page.locator('article a').click();
      await page.getByRole('dialog', { name: markup }).waitFor();
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
    if (viewport === PHONE) await page.locator('#filters > summary').click();
    expect(await facets.isVisible()).toBe(true);
    expect(await fits()).toBe(true);
  });
});
