import { Column, CreateDateColumn, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { identifierColumn, timeColumn } from '../resource/column-types.js';
import { Client } from './client.entity.js';

/** An access token of a client. Only its hash is stored. */
@Entity('access_tokens')
export class AccessToken {
  /** Public identifier for `catalogue token list` and `revoke`. Not derived from the token. */
  @PrimaryColumn(identifierColumn)
  tokenID!: string;

  @Index()
  @ForeignKey(() => Client, { onDelete: 'CASCADE' })
  @Column(identifierColumn)
  clientID!: string;

  /** SHA-256, 32 bytes. */
  @Column({ type: 'bytea' })
  hash!: Buffer;

  /** Null: the token does not expire. */
  @Column({ ...timeColumn, nullable: true })
  expiresAt!: Date | null;

  @CreateDateColumn(timeColumn)
  createdAt!: Date;
}
