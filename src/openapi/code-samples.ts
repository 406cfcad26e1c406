import { NON_FILTERS } from '../list/condition/filters.js';
import { type DescribedEndpoint, namesIn } from './described-endpoint.js';
import { exampleText } from './parameters.js';
import type { Json } from './schema.js';

/** A request of a sample. */
interface SampleRequest {
  /** What it asks for; absent if there is only one. */
  readonly label?: string;
  /** The path with the query. */
  readonly target: string;
  /** Whether the answer is a stream of lines (NDJSON), and not a page. */
  readonly isStream?: boolean;
}

/**
 * Programs that send requests to an endpoint, in each language, which need nothing but its standard library. They are
 * the `x-codeSamples` of its operation, an extension that pages of documentation display.
 */
export function codeSamples(endpoint: DescribedEndpoint): Json[] {
  return requests(endpoint).flatMap((request) =>
    LANGUAGES.map(([lang, name, source]) => ({
      lang,
      label: request.label === undefined ? name : `${name}: ${request.label}`,
      source: source(request),
    })),
  );
}

function requests(endpoint: DescribedEndpoint): SampleRequest[] {
  const { kind, template, parameters } = endpoint;
  // The value of a required parameter comes from an earlier response, as that of `deletedSince` does.
  if (parameters.some(({ isRequired }) => isRequired)) return [];
  if (kind === 'object' || kind === 'other') return [{ target: exampleTarget(endpoint) }];
  if (kind === 'facets') return [{ target: `${template}?limit=3` }];
  return [
    { label: 'a page', target: `${template}?limit=3` },
    { label: 'filtered and sorted', target: `${template}?${filteredAndSorted(endpoint)}limit=3` },
    { label: 'the whole list', target: template, isStream: true },
  ];
}

/** The path of an endpoint with the example of each of its parameters. */
function exampleTarget({ template, pathParameters }: DescribedEndpoint): string {
  return pathParameters.reduce(
    (target, { name, sample }) => target.replace(`{${name}}`, encoded(sample)),
    template,
  );
}

/** A value in a URL that stands in quotes of either kind. */
function encoded(value = '1'): string {
  return encodeURIComponent(value).replaceAll("'", '%27');
}

/** A filter by the first enumeration or boolean, if there is one, and the last order. */
function filteredAndSorted(endpoint: DescribedEndpoint): string {
  const filter = endpoint.parameters.find(
    ({ name, schema }) =>
      !NON_FILTERS.has(name) && (schema.type === 'boolean' || schema.items?.enum !== undefined),
  );
  const order = namesIn(endpoint, 'sort').at(-1);
  return [
    ...(filter ? [`${filter.name}=${encoded(exampleText(endpoint, filter))}&`] : []),
    ...(order === undefined ? [] : [`sort=${order}&`]),
  ].join('');
}

/** The language, its name in a label, and the program in it. */
const LANGUAGES: readonly [string, string, (request: SampleRequest) => string][] = [
  ['Shell', 'curl', curl],
  ['JavaScript', 'JavaScript', javascript],
  ['Python', 'Python', python],
  ['PHP', 'PHP', php],
];

function curl({ target, isStream = false }: SampleRequest): string {
  const lines = [
    'curl -H "X-Client-ID: $CLIENT_ID" -H "Authorization: Bearer $ACCESS_TOKEN"',
    ...(isStream ? ["  -H 'Accept: application/x-ndjson'"] : []),
    `  "$CATALOGUE_URL${target}"`,
  ];
  return lines.join(' \\\n');
}

function javascript({ target, isStream = false }: SampleRequest): string {
  const read = isStream
    ? `
let rest = '';
for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split('\\n');
  rest = lines.pop();
  for (const line of lines) console.log(JSON.parse(line));
}`
    : `
const { response_data: page } = await response.json();
console.log(page.count, page.objects);`;
  return `const { CATALOGUE_URL, CLIENT_ID, ACCESS_TOKEN } = process.env;
const response = await fetch(\`\${CATALOGUE_URL}${target}\`, {
  headers: {
    'X-Client-ID': CLIENT_ID,
    Authorization: \`Bearer \${ACCESS_TOKEN}\`,${isStream ? "\n    Accept: 'application/x-ndjson'," : ''}
  },
});
if (!response.ok) throw new Error(await response.text());${read}`;
}

function python({ target, isStream = false }: SampleRequest): string {
  const read = isStream
    ? `    for line in response:
        print(json.loads(line))`
    : `    page = json.load(response)["response_data"]
    print(page["count"], page["objects"])`;
  return `import json
from os import environ
from urllib.request import Request, urlopen

request = Request(
    environ["CATALOGUE_URL"] + "${target}",
    headers={
        "X-Client-ID": environ["CLIENT_ID"],
        "Authorization": "Bearer " + environ["ACCESS_TOKEN"],${isStream ? '\n        "Accept": "application/x-ndjson",' : ''}
    },
)
with urlopen(request) as response:
${read}`;
}

function php({ target, isStream = false }: SampleRequest): string {
  const read = isStream
    ? `$lines = fopen($url, 'r', false, $context);
while (($line = fgets($lines)) !== false) {
    print_r(json_decode($line, true));
}`
    : `$page = json_decode(file_get_contents($url, false, $context), true)['response_data'];
echo $page['count'], PHP_EOL;
print_r($page['objects']);`;
  return `<?php
$url = getenv('CATALOGUE_URL') . '${target}';
$context = stream_context_create(['http' => ['header' => [
    'X-Client-ID: ' . getenv('CLIENT_ID'),
    'Authorization: Bearer ' . getenv('ACCESS_TOKEN'),${isStream ? "\n    'Accept: application/x-ndjson'," : ''}
]]]);
${read}`;
}
