import { listProducts } from './orval-client/client';
import { listProductsQueryParams, listProductsResponse } from './orval-client/zod';

const { CATALOGUE_URL, CLIENT_ID, ACCESS_TOKEN } = process.env;
const query = listProductsQueryParams.parse({ type: ['PHYSICAL', 'DIGITAL'], limit: 3 });
// The URLs are relative to the service.
const { fetch } = globalThis;
globalThis.fetch = (url, options) => fetch(`${CATALOGUE_URL}${String(url)}`, options);
const response = await listProducts(query, {
  headers: { 'X-Client-ID': CLIENT_ID ?? '', Authorization: `Bearer ${ACCESS_TOKEN}` },
});
if (response.status !== 200) throw new Error(JSON.stringify(response));
const { count, objects } = listProductsResponse.parse(response.data).response_data;
console.log(count, objects.map(({ productID }) => productID).join());
