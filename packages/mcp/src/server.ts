import {
  type CallToolResult,
  createMcpHandler,
  type JSONRPCMessage,
  localhostAllowedHostnames,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type Transport,
} from '@modelcontextprotocol/server';
import { readFileSync } from 'node:fs';
import type { CatalogueTool } from './tools.js';
import { hostHeaderValidation, originValidation, toNodeHandler } from '@modelcontextprotocol/node';
import { createServer, type Server } from 'node:http';

const { version } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
) as { version: string };

const INSTRUCTIONS =
  'It can be read, not changed. Count by value to see what there is to filter by, and to ' +
  'find identifiers by names; search with filters; get one object by its identifier. An error says ' +
  'what to correct in the arguments.';

/** Characters of a result. A larger one would fill the context of a model, and hosts cut it off. */
const MAXIMUM_TEXT = 80_000;

/** A server of one connection, or of one request by HTTP. */
export function serverOf(tools: ReadonlyMap<string, CatalogueTool>): McpServer {
  const names = [...tools.keys()].filter((name) => name.startsWith('search_'));
  const resources = names.map((name) => name.replace('search_', '')).join(', ');
  const mcp = new LenientServer(
    { name: 'catalogue', title: 'Catalogue', version },
    { capabilities: { tools: {} }, instructions: `A catalogue of ${resources}. ${INSTRUCTIONS}` },
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

/** Some hosts send null in place of no arguments, which the SDK refuses. It reads a message behind this. */
class LenientServer extends McpServer {
  override connect(transport: Transport): Promise<void> {
    transport.onmessage = (message: JSONRPCMessage & { params?: { arguments?: unknown } }) => {
      if (message.params?.arguments === null) delete message.params.arguments;
    };
    return super.connect(transport);
  }
}

/** The content as text alone: structured content, as for an output schema, would repeat it. */
function resultOf(content: Record<string, unknown>): CallToolResult {
  const text = JSON.stringify(content);
  if (text.length <= MAXIMUM_TEXT) return { content: [{ type: 'text', text }] };
  return refusal(
    `The result has ${text.length} characters, and ${MAXIMUM_TEXT} is the maximum: ` +
      'send a lower limit, or fewer fields',
  );
}

/** What the service says with its code, or why it was not asked: no error of the client has the token. */
function refusalOf(error: unknown): CallToolResult {
  return refusal(error instanceof Error ? error.message : String(error));
}

function refusal(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}

/** The path of the protocol. */
const PATH = '/mcp';

/**
 * A web server without sessions: each request gets an MCP server of its own. A page of the web cannot use it by a name
 * that leads here (DNS rebinding): the names in `Host` and `Origin` must be local or among those allowed.
 *
 * @param allowedHosts names without ports
 */
export function httpServer(factory: () => McpServer, allowedHosts: readonly string[]): Server {
  const names = [...localhostAllowedHostnames(), ...allowedHosts];
  const isHostAllowed = hostHeaderValidation(names);
  const isOriginAllowed = originValidation(names);
  const handle = toNodeHandler(createMcpHandler(factory));
  return createServer((request, response) => {
    if (!isHostAllowed(request, response) || !isOriginAllowed(request, response)) return;
    if (request.url?.split('?', 1)[0] === PATH) void handle(request, response);
    else response.writeHead(404).end();
  });
}
