import { client } from './hey-api-client/client.gen';
import { listProducts } from './hey-api-client/sdk.gen';

const { CATALOGUE_URL, CLIENT_ID, ACCESS_TOKEN } = process.env;
client.setConfig({
  baseUrl: CATALOGUE_URL ?? '',
  headers: { 'X-Client-ID': CLIENT_ID, Authorization: `Bearer ${ACCESS_TOKEN}` },
});
const { data, error } = await listProducts({ query: { type: ['PHYSICAL', 'DIGITAL'], limit: 3 } });
if (data === undefined) throw new Error(error.result.msg);
const { count, objects } = data.response_data;
console.log(count, objects.map(({ productID }) => productID).join());
