import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { loadDemonstration } from '../../src/demo/load-demonstration.js';
import { type Service, startService } from '../service.js';
import { fencesOf } from './markdown.js';

const { fences } = fencesOf(await readFile('docs/api.md', 'utf8'));

/** The requests below some headings, each with the response that is printed right after it. */
const examples = ['Facets'].map((heading) => {
  const [command, response] = fences.filter((fence) => fence.heading === heading);
  const path = /'http:\/\/127\.0\.0\.1:3000([^']+)'/.exec(command?.text ?? '')?.[1] ?? '';
  return { heading, path, response: response?.text ?? '' };
});

let service: Service;

beforeAll(async () => {
  service = await startService();
  await loadDemonstration(service.dataSource);
});
afterAll(() => service.stop());

describe('The examples of docs/api.md', () => {
  it.each(examples)(
    'print what the demonstration answers: $heading',
    async ({ path, response }) => {
      const { body } = await service.get(path).expect(200);
      expect(body).toEqual(JSON.parse(response));
    },
  );
});
