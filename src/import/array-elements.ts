import { InvalidRowsError } from './invalid-rows.js';

/** An element of an array, as text. */
interface Element {
  /** The number of the line on which it begins, from 1. */
  readonly line: number;
  readonly json: string;
}

/**
 * Divides the text of an array in JSON into its elements, which may be invalid, without holding it whole.
 *
 * @param maximum characters of an element
 * @throws InvalidRowsError if the text is no array
 */
export async function* arrayElements(
  text: AsyncIterable<string>,
  maximum: number,
): AsyncGenerator<Element[]> {
  const reader = new ArrayReader(maximum);
  for await (const chunk of text) yield reader.read(chunk);
  reader.end();
}

class ArrayReader {
  private line = 1;
  private state: 'before' | 'within' | 'behind' = 'before';
  /** How many objects and lists of the element are open. */
  private depth = 0;
  private isInString = false;
  private isEscaped = false;
  private isFirst = true;
  /** What there is of the element. */
  private element = '';
  /** The line of its first character. */
  private begin = 1;

  constructor(private readonly maximum: number) {}

  /** The elements that end in a part of the text. */
  read(chunk: string): Element[] {
    const found: Element[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const char = chunk.charAt(at);
      if (char === '\n') this.line += 1;
      if (this.isInString) {
        if (this.isEscaped) this.isEscaped = false;
        else if (char === '\\') this.isEscaped = true;
        else if (char === '"') this.isInString = false;
        continue;
      }
      if (isSpace(char)) continue;
      if (this.state === 'before') {
        if (char !== '[') this.fail('is not a list in JSON');
        this.state = 'within';
        from = at + 1;
        continue;
      }
      if (this.state === 'behind') this.fail('follows the end of the list');
      if (this.depth === 0 && (char === ',' || char === ']')) {
        const json = (this.element + chunk.slice(from, at)).trim();
        const isEmptyList = char === ']' && this.isFirst && json === '';
        if (json === '' && !isEmptyList) this.fail('lacks an object');
        if (json !== '') found.push({ line: this.begin, json });
        this.isFirst = false;
        this.element = '';
        from = at + 1;
        if (char === ']') this.state = 'behind';
        continue;
      }
      if (this.depth === 0 && (this.element + chunk.slice(from, at)).trim() === '') {
        this.begin = this.line;
      }
      if (char === '"') this.isInString = true;
      else if (char === '{' || char === '[') this.depth += 1;
      else if (char === '}' || char === ']') this.depth -= 1;
    }
    if (this.state === 'within') this.element += chunk.slice(from);
    if (this.element.length > this.maximum) {
      this.fail(`is longer than ${this.maximum} characters`, this.begin);
    }
    return found;
  }

  end(): void {
    if (this.state !== 'behind') this.fail('ends within the list');
  }

  private fail(message: string, line = this.line): never {
    throw new InvalidRowsError([{ line, message }]);
  }
}

function isSpace(char: string): boolean {
  return char === ' ' || char === '\n' || char === '\r' || char === '\t' || char === '\uFEFF';
}
