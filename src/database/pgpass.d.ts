declare module 'pgpass' {
  export interface Server {
    readonly host: string;
    readonly port: number;
    readonly database: string;
    readonly user: string;
  }

  /** Finds the password of a user in the password file; `undefined` if there is none. */
  export default function pgpass(
    server: Server,
    answer: (password: string | undefined) => void,
  ): void;
}
