import { Column, CreateDateColumn, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { identifierColumn, nameColumn, timeColumn } from '../resource/column-types.js';

/** A client of the API, identified by its `clientID`. Its columns have their names under any naming strategy. */
@Entity('clients')
export class Client {
  @PrimaryColumn({ ...identifierColumn, name: 'clientID' })
  clientID!: string;

  @Column({ ...nameColumn, nullable: true })
  name!: string | null;

  @Column({ type: 'boolean', default: false })
  disabled!: boolean;

  /** Requests per minute; 0: no limit; null: the default, `RATE_LIMIT_PER_MINUTE`. */
  @Column({ type: 'integer', nullable: true, name: 'rateLimit' })
  rateLimit!: number | null;

  /** The names of the resources that it may read; null: all. */
  @Column({ type: 'text', array: true, nullable: true })
  resources!: string[] | null;

  /** The columns that it does not see, such as `products.price`. */
  @Column({ type: 'text', array: true, default: [] })
  hidden!: string[];

  /** Whether it needs no token, as in a page for browsers. */
  @Column({ type: 'boolean', default: false, name: 'isPublic' })
  isPublic!: boolean;

  @CreateDateColumn({ ...timeColumn, name: 'createdAt' })
  createdAt!: Date;
}

/** An access token of a client. Only its hash is stored. Its columns have their names under any naming strategy. */
@Entity('access_tokens')
export class AccessToken {
  /** Public identifier for `catalogue token list` and `revoke`. Not derived from the token. */
  @PrimaryColumn({ ...identifierColumn, name: 'tokenID' })
  tokenID!: string;

  @Index()
  @ForeignKey(() => Client, { onDelete: 'CASCADE' })
  @Column({ ...identifierColumn, name: 'clientID' })
  clientID!: string;

  /** SHA-256, 32 bytes. */
  @Column({ type: 'bytea' })
  hash!: Buffer;

  /** Null: the token does not expire. */
  @Column({ ...timeColumn, nullable: true, name: 'expiresAt' })
  expiresAt!: Date | null;

  @CreateDateColumn({ ...timeColumn, name: 'createdAt' })
  createdAt!: Date;
}
