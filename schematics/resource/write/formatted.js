import { format, resolveConfig } from 'prettier';

/**
 * TypeScript as the project formats it.
 *
 * @param {string} text
 */
export async function formatted(text) {
  const config = await resolveConfig(new URL('../../../.prettierrc', import.meta.url));
  return format(text, { ...config, parser: 'typescript' });
}
