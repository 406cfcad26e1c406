import { Column, CreateDateColumn, Entity, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { identifierColumn, timeColumn } from '../resource/column-types.js';
import { Client } from './client.entity.js';

/** A credential of a client, known here by its hash alone. */
@Entity('access_tokens')
export class AccessToken {
  /** Names the token where it must be spoken of, and tells nothing of it. */
  @PrimaryColumn(identifierColumn)
  tokenID!: string;

  @Index()
  @ForeignKey(() => Client, { onDelete: 'CASCADE' })
  @Column(identifierColumn)
  clientID!: string;

  /** SHA-256, 32 bytes. */
  @Column({ type: 'bytea' })
  hash!: Buffer;

  /** Null: never. */
  @Column({ ...timeColumn, nullable: true })
  expiresAt!: Date | null;

  @CreateDateColumn(timeColumn)
  createdAt!: Date;
}
