import { Column, CreateDateColumn, Entity, PrimaryColumn } from 'typeorm';
import { identifier, name, time } from '../resource/resource.js';

/** Who may ask. */
@Entity('clients')
export class Client {
  @PrimaryColumn(identifier)
  clientID!: string;

  @Column({ ...name, nullable: true })
  name!: string | null;

  @Column({ type: 'boolean', default: false })
  disabled!: boolean;

  /** Requests a minute, 0 for no limit; null: as the service is set. */
  @Column({ type: 'integer', nullable: true })
  rateLimit!: number | null;

  @CreateDateColumn(time)
  createdAt!: Date;
}
