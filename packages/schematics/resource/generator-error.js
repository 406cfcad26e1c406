/** The resource cannot be generated. Nothing has been written. */
export class GeneratorError extends Error {}

/** What is wrong with a field. @type {(name: string, what: string) => GeneratorError} */
export const fieldError = (name, what) => new GeneratorError(`The field ${name} ${what}`);
