import {
  CredentialsQueryDto,
  InvalidValue,
  Parameter,
} from '../../http/parameters/declared-parameters.js';
import { errors } from '../../http/errors.js';
import { RETENTION } from '../deletions/deletions.js';
import { namesIn } from '../query/name-parameters.js';
import { arrayOf, DATE_TIME, mustBe } from '../query/parameters.js';
import { readSince } from '../query/since.js';

const LATEST = '9999-12-31T23:59:59.999Z';
const DAY = 86_400_000;

/** The query parameters of `/changes`. Which names there are depends on the application: see `ChangesReader`. */
export class ChangesQueryDto extends CredentialsQueryDto {
  @NameListParam(
    'The resources, in the order in which their objects come. Default: all.',
    'products',
  )
  resources?: readonly string[];

  @Parameter({
    ...DATE_TIME,
    meaning:
      'Only what changed or was deleted at this time or later: the X-Updated-Until of an earlier answer. Default: all objects, and no deletions.',
    example: undefined,
    read: readRetained,
    reads: [],
  })
  since?: Date;

  @NameListParam(
    'The fields of the objects, such as products.name. An object has its identifier in any case, and all fields if none of its resource is named.',
    'products.name',
  )
  fields?: readonly string[];
}

/** Names, separated by commas. Property: `string[]`, in the order sent. */
function NameListParam(meaning: string, example: string): PropertyDecorator {
  const read = (text: string) => {
    const names = namesIn(text);
    return names.includes('') ? mustBe('names, separated by commas') : [...new Set(names)];
  };
  return Parameter({ meaning, schema: arrayOf({ type: 'string' }), example, read, reads: [] });
}

/** Reads a time since which a client asks for deletions: not earlier than they are kept. */
function readRetained(text: string): Date | InvalidValue {
  const time = readSince(text);
  const earliest = new Date(Date.now() - RETENTION.days * DAY);
  if (time instanceof InvalidValue || time >= earliest) return time;
  return new InvalidValue((name) => errors.outOfRange(name, earliest.toISOString(), LATEST));
}
