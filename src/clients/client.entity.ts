import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import { identifierColumn, nameColumn, timeColumn } from '../resource/column-types.js';

/** Who may ask. */
@Entity('clients')
export class Client {
  @PrimaryColumn(identifierColumn)
  clientID!: string;

  @Column({ ...nameColumn, nullable: true })
  name!: string | null;

  @Column({ type: 'boolean', default: false })
  disabled!: boolean;

  /** Requests a minute, 0 for no limit; null: as the service is set. */
  @Column({ type: 'integer', nullable: true })
  rateLimit!: number | null;

  @CreateDateColumn(timeColumn)
  createdAt!: Date;
}
