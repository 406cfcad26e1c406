import { hostHeaderValidation, originValidation, toNodeHandler } from '@modelcontextprotocol/node';
import {
  createMcpHandler,
  localhostAllowedHostnames,
  type McpServer,
} from '@modelcontextprotocol/server';
import { createServer, type Server } from 'node:http';

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
