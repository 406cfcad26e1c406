import { Injectable } from '@nestjs/common';
import { errors } from '../../http/errors.js';

/** Withholds lists that could be wrong, because the schema of their resource has not passed its check. */
@Injectable()
export class WithheldLists {
  private isWithheld: (resource: string) => boolean = () => false;

  /** Replaces the set of resources whose lists get `-2`. */
  withhold(isWithheld: (resource: string) => boolean): void {
    this.isWithheld = isWithheld;
  }

  /** @throws ApiError `-2` if the lists of one of the resources are withheld */
  check(resources: readonly string[]): void {
    if (resources.some(this.isWithheld)) throw errors.unavailable();
  }
}
