/** What was asked for cannot be generated; nothing has been written. */
export class Refusal extends Error {}
