import { brands } from './brands.js';
import type { BrandID } from './brands.js';
import type { Department, Shelf } from './department.js';
import { family } from './departments/family.js';
import { food } from './departments/food.js';
import { garden } from './departments/garden.js';
import { home } from './departments/home.js';
import { kitchen } from './departments/kitchen.js';
import { media } from './departments/media.js';
import { office } from './departments/office.js';
import { outdoor } from './departments/outdoor.js';
import { services } from './departments/services.js';
import { modelsOf } from './model.js';
import type { Model, Variant } from './model.js';
import { priceOf } from './price.js';
import { Random } from './random.js';

type Row = Record<string, string | number | null>;

/** One resource's rows, in an order that satisfies references: parents first. */
export interface DemoResource {
  readonly resource: 'brands' | 'categories' | 'products';
  rows(): Iterable<Row>;
}

/**
 * A shop to try the service with: some 40 brands, 60 categories in three levels and 3,000 products.
 * The rows are the same on every machine and at every call.
 */
export const demoCatalogue: readonly DemoResource[] = [
  { resource: 'brands', rows: brandRows },
  { resource: 'categories', rows: categoryRows },
  { resource: 'products', rows: productRows },
];

const departments: readonly Department[] = [
  kitchen,
  food,
  home,
  garden,
  office,
  outdoor,
  family,
  media,
  services,
];

const productCount = 3000;
const second = 1000;
const minute = 60 * second;
const day = 24 * 60 * minute;
/** Brands and categories come in the first two days, products until the end of the last. */
const firstDay = Date.UTC(2025, 0, 1);
const lastDay = Date.UTC(2026, 5, 30);
const firstProductDay = firstDay + 2 * day;

function* brandRows(): Generator<Row> {
  let time = firstDay + 9 * 60 * minute;
  for (const [brandID, { name }] of Object.entries(brands)) {
    yield { brandID, name, createdAt: timestamp(time) };
    time += 7 * minute;
  }
}

function* categoryRows(): Generator<Row> {
  let time = firstDay + day + 9 * 60 * minute;
  for (const { category, parentID } of categories(departments, null)) {
    const { id: categoryID, name } = category;
    yield { categoryID, parentID, name, createdAt: timestamp(time) };
    time += 3 * minute;
  }
}

function* productRows(): Generator<Row> {
  const random = new Random(7);
  const models: Model[] = [];
  for (const { category } of categories(departments, null)) {
    if ('kinds' in category) models.push(...modelsOf(category, random));
  }
  let listed = 0;
  for (const model of random.shuffled(models)) {
    // A shop's numbers follow its years only roughly, and so do ours.
    const place = firstProductDay + day * Math.floor((listed * daysOfTrade()) / productCount);
    const earliest = Math.max(firstProductDay, place - 30 * day);
    const latest = Math.min(lastDay, place + 30 * day);
    const date = earliest + day * random.below((latest - earliest) / day + 1);
    let time = date + random.between(7 * 60 * minute, 17 * 60 * minute);
    const arriveTogether = random.chance(50);
    // Dear things only; nobody asks for the price of a jar of jam.
    const onRequest = model.cents > 100_00 && random.chance(6);
    for (const variant of model.variants) {
      if (listed === productCount) return;
      listed += 1;
      yield productRow(listed, model, variant, time, onRequest, random);
      // Variants entered in one go share their time to the millisecond, as in any imported catalogue.
      if (!arriveTogether) time += random.between(second, 5 * minute);
    }
  }
}

function daysOfTrade(): number {
  return (lastDay - firstProductDay) / day + 1;
}

function productRow(
  number: number,
  { shelf, brandID, about, number: modelNumber, cents }: Model,
  { name, sku, percent }: Variant,
  time: number,
  onRequest: boolean,
  random: Random,
): Row {
  const brand = brands[brandID];
  const refID = [brand.sku, modelNumber, ...sku].join('-');
  const price = priceOf(Math.floor((cents * percent) / 100), brand.currency ?? 'EUR');
  return {
    productID: `p-${String(number).padStart(6, '0')}`,
    refID: random.chance(3) ? null : refID,
    type: shelf.type ?? 'PHYSICAL',
    name,
    description: description(about, shelf, brandID, random),
    brandID,
    categoryID: shelf.id,
    price: onRequest ? null : price,
    currency: onRequest ? null : (brand.currency ?? 'EUR'),
    stock: shelf.type ? null : stock(cents, random),
    imageURL: random.chance(6)
      ? null
      : `https://images.example.com/${brandID}/${refID.toLowerCase()}.jpg`,
    createdAt: timestamp(time),
  };
}

function description(about: string, shelf: Shelf, brandID: BrandID, random: Random): string {
  const sentences = [about];
  if (random.chance(75)) sentences.push(random.pick(shelf.notes));
  if (random.chance(45)) sentences.push(random.pick(brands[brandID].says));
  return sentences.join(' ');
}

/** One in eight is listed out; dear things are kept in smaller numbers. */
function stock(cents: number, random: Random): number {
  if (random.chance(12)) return 0;
  const most = cents < 20_00 ? 400 : cents < 100_00 ? 150 : cents < 500_00 ? 40 : 9;
  return 1 + Math.min(random.below(most), random.below(most));
}

function* categories(
  children: readonly (Department | Shelf)[],
  parentID: string | null,
): Generator<{ category: Department | Shelf; parentID: string | null }> {
  for (const category of children) {
    yield { category, parentID };
    if ('children' in category) yield* categories(category.children, category.id);
  }
}

function timestamp(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
