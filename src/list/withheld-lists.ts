import { Injectable } from '@nestjs/common';
import { errors } from '../http/errors.js';

/** Refuses the lists of resources that the database could answer wrongly. */
@Injectable()
export class WithheldLists {
  private isWithheld: (resource: string) => boolean = () => false;

  /** From now on the lists of these resources are refused with `-2`, and of no others. */
  withhold(isWithheld: (resource: string) => boolean): void {
    this.isWithheld = isWithheld;
  }

  /** @throws ApiError `-2` while the lists of the resource are withheld */
  check(resource: string): void {
    if (this.isWithheld(resource)) throw errors.unavailable();
  }
}
