import { Column, CreateDateColumn, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { identifierColumn, timeColumn } from '../resource/column-types.js';
import { Client } from './client.entity.js';

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
