import { createInterface } from 'node:readline/promises';
import { SYNTAX } from './fields.js';
import { Refusal } from './refusal.js';

/** Asks how the resource is called. */
export async function askName() {
  const [name = ''] = await answers([
    'The name of the resource, in the plural, such as suppliers: ',
  ]);
  if (name === '') throw new Refusal('A resource needs a name in the plural, such as suppliers');
  return name;
}

/**
 * Asks for one field after another, until there are no more.
 *
 * @param {import('./names.js').Names} names
 * @returns {Promise<string>} them all
 */
export async function askFields({ identifier, words }) {
  console.log(
    `What do ${words} have beside ${identifier}, createdAt and updatedAt? A field a line:\n${SYNTAX}`,
  );
  const fields = await answers(undefined);
  if (fields.length === 0) {
    throw new Refusal(
      `There are no fields. After the name say ${SYNTAX}; or name a CSV or NDJSON file`,
    );
  }
  return fields.join(', ');
}

/**
 * The answers to some questions, or to the same one until it is answered with nothing; fewer where
 * the input ends.
 *
 * @param {readonly string[] | undefined} questions
 */
async function answers(questions) {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  /** @type {string[]} */
  const given = [];
  const ask = () => {
    lines.setPrompt(questions?.[given.length] ?? 'Field, or nothing when done: ');
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
