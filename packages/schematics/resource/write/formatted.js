import { format, resolveConfig } from 'prettier';

/**
 * TypeScript in the format of the project, whose folder the generator runs in.
 *
 * @param {string} text
 */
export async function formatted(text) {
  return format(text, { ...(await resolveConfig('src/app.module.ts')), parser: 'typescript' });
}
