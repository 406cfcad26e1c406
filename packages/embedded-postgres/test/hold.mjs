// Uses the server on a directory until it is told to stop.
// Usage: node hold.mjs <directory> [<options as JSON>]; an option `holder` claims the directory.
// Prints {"url": …} or {"refused": …}, and on SIGTERM or the end of its input releases and ends.
import { embeddedServer } from '../index.js';

const [, , directory = '', options = '{}'] = process.argv;
const { holder, ...rest } = JSON.parse(options);

try {
  const server = await embeddedServer(directory, rest);
  if (holder) await claim(server);
  const release = async () => {
    await server.release();
    console.log(JSON.stringify({ released: true }));
    process.stdin.destroy();
  };
  process.once('SIGTERM', () => void release());
  // What keeps us here, since the server does not.
  process.stdin.resume().once('end', () => void release());
  console.log(JSON.stringify({ url: server.url }));
} catch (error) {
  const { message, name } = /** @type {Error} */ (error);
  console.log(JSON.stringify({ refused: message, name }));
}

/** @param {import('../index.js').EmbeddedServer} server */
async function claim(server) {
  try {
    await server.claim(holder);
  } catch (error) {
    await server.release();
    throw error;
  }
}
