/** Milliseconds that a timer can take: one of more ends at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;
