import { errors } from '../http/errors.js';

/** The description of what applies to all endpoints, as Markdown. */
export function overview(): string {
  const rows = Object.values(errors).map(
    ({ errcode, statuses, condition, message }) =>
      `| \`${errcode}\` | ${statuses.join(', ')} | ${condition} | \`${message}\` |`,
  );
  return `Every answer is one JSON object. \`count\` is a string that holds an integer, the number of all
objects that match, whatever \`limit\`, \`offset\` and \`fields\` say. A refusal has no
\`response_data\`, an \`errcode\` other than \`"0"\`, and a \`msg\` that says what to change. Fields
without a value are \`null\`, never absent.

## Credentials

Send them with every call, in the headers \`X-Client-ID\` and \`Authorization: Bearer …\`, or in the
parameters \`clientID\` and \`access_token\`. Prefer the headers: query strings end up in logs. The same
credential in both places is refused with \`-14\`.

## Parameters

Names are case-sensitive and each may stand once. **A parameter that an endpoint does not list is
refused** with \`-23\` and \`The parameter <name> must not be present in this request\`. Several values
are separated by commas. In a URL, \`+\` is a space: write the zone of a time as \`%2B02:00\`, or in
UTC as \`Z\`. \`OPTIONS\` of a path answers with the parameters that it takes.

## Errors

Each endpoint lists those that it can answer with. The order of checks is path, method, credentials,
rate, undefined parameters, then the other parameters in the order sent.

<details><summary>All errcodes</summary>

| errcode | HTTP | condition | msg |
| ------- | ---- | --------- | --- |
${rows.join('\n')}

</details>

## Headers

Every response carries the security headers that Helmet sets for an API, and those of CORS for the
origins that the operator allows.
`;
}
