import { CatalogueError } from '@catalogue/client';
import {
  type CallToolResult,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { readFileSync } from 'node:fs';
import type { CatalogueTool } from './tools.js';

const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { version: string };

const INSTRUCTIONS =
  'A catalogue that can be read, not changed. Count by value to see what there is, search with ' +
  'filters, and get one object by its identifier. An error says what to correct in the arguments.';

/** Characters of a result. A larger one would fill the context of a model, and hosts cut it off. */
const MAXIMUM_TEXT = 80_000;

/** A server of one connection, or of one request by HTTP. */
export function serverOf(tools: ReadonlyMap<string, CatalogueTool>): McpServer {
  const mcp = new McpServer(
    { name: 'catalogue', title: 'Catalogue', version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS },
  );
  const { server } = mcp;
  server.setRequestHandler('tools/list', () => ({
    tools: [...tools.values()].map(({ definition }) => definition),
  }));
  // Not by registerTool, which checks the arguments: the errors of the service say better what to correct.
  server.setRequestHandler('tools/call', async ({ params }, { mcpReq: { signal } }) => {
    const tool = tools.get(params.name);
    if (!tool) {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}`);
    }
    try {
      return resultOf(await tool.call(params.arguments ?? {}, { signal }));
    } catch (error) {
      return refusalOf(error);
    }
  });
  return mcp;
}

/** The content as it is, and as text for models that are shown nothing else. */
function resultOf(structuredContent: Record<string, unknown>): CallToolResult {
  const text = JSON.stringify(structuredContent);
  if (text.length <= MAXIMUM_TEXT) return { content: [{ type: 'text', text }], structuredContent };
  return refusal(
    `The result has ${text.length} characters, and ${MAXIMUM_TEXT} is the maximum: ` +
      'send a lower limit, or fewer fields',
  );
}

/** What the service says, or why it was not asked: no error of the client has the token. */
function refusalOf(error: unknown): CallToolResult {
  if (error instanceof CatalogueError) return refusal(error.msg, error.errcode);
  return refusal(error instanceof Error ? error.message : String(error));
}

function refusal(msg: string, errcode?: string): CallToolResult {
  return {
    isError: true,
    content: [{ type: 'text', text: msg }],
    structuredContent: errcode === undefined ? { msg } : { errcode, msg },
  };
}
