import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import { identifierColumn, nameColumn, timeColumn } from '../resource/column-types.js';

/** A client of the API, identified by its `clientID`. */
@Entity('clients')
export class Client {
  @PrimaryColumn(identifierColumn)
  clientID!: string;

  @Column({ ...nameColumn, nullable: true })
  name!: string | null;

  @Column({ type: 'boolean', default: false })
  disabled!: boolean;

  /** Requests per minute; 0: no limit; null: the default, `RATE_LIMIT_PER_MINUTE`. */
  @Column({ type: 'integer', nullable: true })
  rateLimit!: number | null;

  @CreateDateColumn(timeColumn)
  createdAt!: Date;
}
