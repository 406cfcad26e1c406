import { CredentialsQueryDto } from '../../http/parameters/credentials-query.dto.js';
import { Parameter } from '../../http/parameters/declared-parameters.js';
import { namesIn } from '../query/name-parameters.js';
import { arrayOf, DATE_TIME, mustBe } from '../query/parameters.js';
import { readRetained } from '../deletions/retained.js';

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
