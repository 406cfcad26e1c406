import { Allow } from 'class-validator';

/** The parameters that every request may carry: its credentials, which a guard checks. */
export class CredentialsQueryDto {
  @Allow() clientID?: string;
  @Allow() access_token?: string;
}
