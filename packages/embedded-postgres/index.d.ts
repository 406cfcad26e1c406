/** A PostgreSQL server that this process shares with all others on its data directory. */
export interface EmbeddedServer {
  /** `postgres://…` URL of the database, with the credentials of its superuser. */
  readonly url: string;

  /**
   * Claims the data directory until `release()` or the end of this process. Only one process has it.
   *
   * @param holder identifies this process in the errors of others, such as `the worker with pid 123`; one line
   * @throws EmbeddedPostgresError if another process has claimed it; names its holder
   */
  claim(holder: string): Promise<void>;

  /**
   * Ends this process's use of the server. Resolves when the server has stopped, or at once if
   * another process still uses it.
   */
  release(): Promise<void>;
}

export interface EmbeddedServerOptions {
  /** Name of the database and of its superuser, who are created with the directory. Default: `postgres`. */
  name?: string;
  /** Settings of PostgreSQL. Used only if this process starts the server. */
  settings?: Record<string, string>;
  /** Called with one line for the user. Default: prints to stderr. */
  onNotice?: (line: string) => void;
}

/** The server cannot run, or the directory is claimed. `message` is one line for the user. */
export class EmbeddedPostgresError extends Error {}

/**
 * Opens the PostgreSQL server that all processes on `dataDir` share, as the README says. Creates the cluster and starts
 * the server as needed. It stops when the last of them has released it or has ended, even by SIGKILL. Open handles of
 * this package do not keep the process alive.
 *
 * @param dataDir created if it does not exist
 * @throws EmbeddedPostgresError if the platform, the user or the directory cannot run a server
 */
export function embeddedServer(
  dataDir: string,
  options?: EmbeddedServerOptions,
): Promise<EmbeddedServer>;
