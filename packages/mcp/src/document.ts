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

/** Milliseconds. */
const TIMEOUT = 10_000;

/**
 * The OpenAPI document of a service.
 *
 * @param url where the service is
 * @throws Error if there is none
 */
export async function fetchDocument(url: string): Promise<OpenApiDocument> {
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/openapi.json`, {
      signal: AbortSignal.timeout(TIMEOUT),
    });
    const document = (await response.json()) as Partial<OpenApiDocument> | null;
    if (document?.paths) return document as OpenApiDocument;
  } catch (cause) {
    throw new Error(`The catalogue at ${url} cannot be reached`, { cause });
  }
  throw new Error(`There is no catalogue at ${url}`);
}
