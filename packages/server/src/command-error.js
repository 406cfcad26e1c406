/** An error that ends a command or the start of the service. `message` is one line for the operator. */
export class CommandError extends Error {
  /** @override */
  name = 'CommandError';
}
