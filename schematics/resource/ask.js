import { createInterface } from 'node:readline/promises';
import { SYNTAX } from './fields.js';
import { GeneratorError } from './generator-error.js';

/** Asks for the resource's name. */
export async function askName() {
  const [name = ''] = await answers([
    'The name of the resource, in the plural, such as suppliers: ',
  ]);
  if (name === '') {
    throw new GeneratorError('A resource needs a name in the plural, such as suppliers');
  }
  return name;
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
  const fields = await answers(undefined);
  if (fields.length === 0) {
    throw new GeneratorError(
      `There are no fields. After the name, give ${SYNTAX}; or give a CSV, NDJSON or JSON file`,
    );
  }
  return fields.join(', ');
}

/**
 * The answers to some questions, or to one question that is repeated until the answer is empty. If
 * the input ends early, there are fewer answers.
 *
 * @param {readonly string[] | undefined} questions
 */
async function answers(questions) {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  /** @type {string[]} */
  const given = [];
  const ask = () => {
    lines.setPrompt(questions?.[given.length] ?? 'Field, or an empty line to finish: ');
    lines.prompt();
  };
  ask();
  for await (const line of lines) {
    const answer = line.trim();
    if (answer === '') break;
    given.push(answer);
    if (questions && given.length === questions.length) break;
    ask();
  }
  lines.close();
  return given;
}
