import { expect, it } from '@jest/globals';
import { Brand } from '../../src/brands/brand.entity.js';
import { ListBrandsDto } from '../../src/brands/list-brands.dto.js';
import { FacetReader } from '#server/list/facets/facet-reader.js';
import type { FacetRequest } from '#server/list/facets/facet-statement.js';
import { listOf, objectOf } from '#server/list/listing/listing.js';
import { ListReader } from '#server/list/reading/list-reader.js';
import { ObjectReader } from '#server/list/reading/object-reader.js';
import { VisibleListing, VisibleObject } from '#server/list/visibility/visible-listing.js';
import { sharedService } from '../service.js';

const service = sharedService();

it('A reader that is given what a handler describes does not compile', async () => {
  const { application, dataSource } = service;
  const brands = dataSource.getRepository(Brand);
  const [list, object] = [listOf(brands, new ListBrandsDto()), objectOf(brands, 'a', {})];
  // @ts-expect-error It is no VisibleListing.
  expect(() => application.get(ListReader).prepare(list)).toThrow();
  // @ts-expect-error It is no VisibleListing.
  expect(() => application.get(FacetReader).prepare(list, {} as FacetRequest)).toThrow();
  // @ts-expect-error It is no VisibleObject.
  await expect(application.get(ObjectReader).read(object)).rejects.toThrow();
  // @ts-expect-error Only `of` makes one.
  new VisibleListing(list, { filters: [], scope: [] }, undefined, undefined, [], true);
  const alike: Pick<VisibleListing, keyof VisibleListing> = VisibleListing.of(list, undefined);
  // @ts-expect-error What has the same members may have other conditions.
  application.get(ListReader).prepare(alike);
  // @ts-expect-error A client is named, or that there is none.
  VisibleObject.of(object);
  expect(VisibleObject.of(object, undefined).entities).toHaveLength(1);
});
