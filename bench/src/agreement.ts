import { ask, type Contender } from './contenders.js';
import type { Question } from './scenarios.js';

/**
 * Throws if contenders answer a question differently: they would not be comparable. One that takes
 * too long is said on stderr.
 */
export async function mustAgree(
  name: string,
  question: Question,
  contenders: readonly Contender[],
): Promise<void> {
  let objects: string | undefined;
  let count: string | undefined;
  for (const contender of contenders) {
    const answer = await ask(contender, question);
    if (!answer) {
      console.error(`${contender.name} takes too long, and is not compared: ${name}`);
      continue;
    }
    objects ??= answer.objects;
    if (contender.counts) count ??= answer.count;
    if (answer.objects !== objects || (contender.counts && answer.count !== count)) {
      throw new Error(`${contender.name} answers otherwise: ${name}, ${contender.path(question)}`);
    }
  }
}
