import { Injectable } from '@nestjs/common';
import { errors } from '../../http/errors.js';

/** The resources that cannot be read at present. */
@Injectable()
export class UnavailableResources {
  /** Those that an import fills. They were empty, and their tables are locked: a request would wait with a connection. */
  loading: readonly string[] = [];
  /** Whether the lists of a resource could be wrong, because its schema has not passed its check. */
  isUnavailable: (resource: string) => boolean = () => false;

  /** @throws ApiError `-2` if one of the resources is loaded */
  checkObjects(resources: readonly string[]): void {
    if (resources.some((resource) => this.loading.includes(resource))) throw errors.unavailable();
  }

  /** @throws ApiError `-2` if one of the resources is loaded, or its lists are unavailable */
  checkLists(resources: readonly string[]): void {
    this.checkObjects(resources);
    if (resources.some(this.isUnavailable)) throw errors.unavailable();
  }
}
