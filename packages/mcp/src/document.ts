import type { JSONObject } from '@modelcontextprotocol/server';

/** A parameter of a path. */
export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
  readonly schema: JSONObject;
}

/** A `GET` of the service. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly (Parameter | { readonly $ref: string })[];
}

/** What the tools need of the OpenAPI document of a service. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
}

/** What the service answers to wrong credentials. */
interface Refusal {
  readonly result: { readonly msg: string };
}

/** Milliseconds. */
const TIMEOUT = 10_000;

/**
 * The OpenAPI document of a service, with what a client may use.
 *
 * @param url where the service is
 * @throws Error if there is none, or if it refuses the credentials
 */
export async function fetchDocument(
  url: string,
  clientID: string,
  accessToken: string,
): Promise<OpenApiDocument> {
  let refusal: string | undefined;
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/openapi.json`, {
      headers: { 'X-Client-ID': clientID, Authorization: `Bearer ${accessToken}` },
      signal: AbortSignal.timeout(TIMEOUT),
    });
    const document = (await response.json()) as Partial<OpenApiDocument & Refusal> | null;
    if (document?.paths) return document as OpenApiDocument;
    if ([401, 403].includes(response.status)) refusal = document?.result?.msg;
  } catch (cause) {
    throw new Error(`The catalogue at ${url} cannot be reached`, { cause });
  }
  throw new Error(refusal ?? `There is no catalogue at ${url}`);
}
