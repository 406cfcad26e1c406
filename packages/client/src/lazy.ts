/** A promise whose work begins when it is first waited for. */
export abstract class Lazy<T> implements Promise<T> {
  readonly [Symbol.toStringTag] = 'Promise';
  private result: Promise<T> | undefined;

  protected abstract begin(): Promise<T>;

  then<A = T, B = never>(
    fulfilled?: ((value: T) => A | PromiseLike<A>) | null,
    rejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    this.result ??= this.begin();
    return this.result.then(fulfilled, rejected);
  }

  catch<B = never>(rejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<T | B> {
    return this.then(undefined, rejected);
  }

  finally(settled?: (() => void) | null): Promise<T> {
    return this.then().finally(settled);
  }
}
