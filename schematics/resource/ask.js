import { createInterface } from 'node:readline/promises';
import { SYNTAX } from './fields.js';
import { GeneratorError } from './generator-error.js';

/** Asks for the resource's name. */
export async function askName() {
  const [name] = await answers('The name of the resource, in the plural, such as suppliers: ', 1);
  if (name !== undefined) return name;
  throw new GeneratorError('A resource needs a name in the plural, such as suppliers');
}

/**
 * Asks for one field after another, until the answer is empty.
 *
 * @param {import('./names.js').Names} names
 * @returns {Promise<string>} all fields, separated by commas
 */
export async function askFields({ identifier, words }) {
  console.log(
    `Which fields do ${words} have besides ${identifier}, createdAt and updatedAt? One field a line:\n${SYNTAX}`,
  );
  const fields = await answers('Field, or an empty line to finish: ', Infinity);
  if (fields.length > 0) return fields.join(', ');
  throw new GeneratorError(
    `There are no fields. After the name, give ${SYNTAX}; or give a CSV, NDJSON or JSON file`,
  );
}

/**
 * The answers to a question, until one is empty or the input ends.
 *
 * @param {string} question
 * @param {number} maximum
 */
async function answers(question, maximum) {
  const lines = createInterface({ input: process.stdin, output: process.stdout, prompt: question });
  /** @type {string[]} */
  const given = [];
  lines.prompt();
  for await (const line of lines) {
    if (line.trim() === '' || given.push(line.trim()) === maximum) break;
    lines.prompt();
  }
  lines.close();
  return given;
}
