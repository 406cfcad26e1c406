import type { ScratchCopy } from './scratch-copy.js';

/** The fields of `scratchSuppliers`. */
export const SUPPLIERS =
  'name:text:exact:sort,country:text=2:null:exact:counted,rating:decimal:null:interval:sort,' +
  'active:boolean:exact:counted,stock:integer:null:exact:exists:interval,brandID:reference=brands:null:several:not:exists:counted,' +
  'categoryID:reference=categories:null:exact:tree:counted';

/** The fields of `scratchOrderItems`. */
export const ORDER_ITEMS =
  'class:text:exact:sort, order:integer:exact:interval:sort, default:boolean:null:exact, ' +
  'type:enum=in-stock/SOLD_OUT/new:several:not:counted, state:enum=ON/OFF:null:exact:not, kind:enum=A/B:not, ' +
  'parentID:reference=scratch_order_items:null:exact:exists:tree, group:text:several:words, note:text:null:words, ' +
  'shippedAt:date-time:null:interval:exists:sort, weight:decimal:exact, productID:reference=products:null:exact:counted, ' +
  'extra:json:null, createdAt:interval:sort, updatedAt:sort:interval, code:text=8:null:several';

/** What a command adds to the files of a copy, the migration's time left out. */
export async function added(copy: ScratchCopy, command: () => Promise<unknown>): Promise<string[]> {
  const before = new Set(await copy.files());
  await command();
  const files = (await copy.files()).filter((file) => !before.has(file));
  return files.map((file) => file.replace(/\d{13}/, '<time>'));
}

/** The files that a resource is generated with, as `added` has them. */
export function filesOf(folder: string, one: string): string[] {
  return [
    `src/migrations/<time>-create-${folder}.ts`,
    `src/${folder}/${folder}.controller.ts`,
    `src/${folder}/${folder}.module.ts`,
    `src/${folder}/${folder}.service.ts`,
    `src/${folder}/${one}.entity.ts`,
    `src/${folder}/list-${folder}.dto.ts`,
    `test/${folder}.spec.ts`,
  ].sort();
}
