/** A command or a start that cannot go on. `message` is one line, for whoever typed the command. */
export class Refusal extends Error {
  override name = 'Refusal';
}
