import { format, resolveConfig } from 'prettier';

/**
 * TypeScript in the project's format.
 *
 * @param {string} text
 */
export async function formatted(text) {
  const config = await resolveConfig(new URL('../../../.prettierrc', import.meta.url));
  return format(text, { ...config, parser: 'typescript' });
}
