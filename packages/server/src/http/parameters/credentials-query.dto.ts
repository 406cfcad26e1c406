import { ownParameters, Parameter } from './declared-parameters.js';

/** The credentials, which every request may have as parameters. A guard checks them. */
export class CredentialsQueryDto {
  @Credential('Who asks; or the header X-Client-ID.', 100, 'demo')
  clientID?: string;

  @Credential(
    'The access token of the client; or the header Authorization. A public client needs none.',
    500,
    'token',
  )
  access_token?: string;
}

/** Whether a parameter is one of the credentials. */
export function isCredential(name: string): boolean {
  return ownParameters(CredentialsQueryDto).has(name);
}

function Credential(meaning: string, maxLength: number, example: string): PropertyDecorator {
  const schema = { type: 'string', minLength: 1, maxLength, pattern: '^[\\x21-\\x7e]+$' } as const;
  return Parameter({ meaning, schema, example, reads: [] });
}
