/** The resource cannot be generated. Nothing has been written. */
export class GeneratorError extends Error {}
