import { Injectable } from '@nestjs/common';
import { errors } from '../../http/errors.js';

/** The resources that an import fills. They were empty, and their tables are locked. */
@Injectable()
export class LoadingResources {
  private names: readonly string[] = [];

  replace(names: readonly string[]): void {
    this.names = names;
  }

  has(resource: string): boolean {
    return this.names.includes(resource);
  }

  /** @throws ApiError `-2` if one of the resources cannot be read: a request would wait with a connection */
  check(resources: readonly string[]): void {
    if (resources.some((resource) => this.has(resource))) throw errors.unavailable();
  }
}
