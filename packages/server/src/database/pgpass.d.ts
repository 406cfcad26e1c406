declare module 'pgpass' {
  export interface Server {
    readonly host: string;
    readonly port: number;
    readonly database: string;
    readonly user: string;
  }

  /** Passes the password of the password file to a callback; `undefined` if it has none. */
  export default function pgpass(
    server: Server,
    callback: (password: string | undefined) => void,
  ): void;
}
