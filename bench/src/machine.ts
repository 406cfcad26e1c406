import { arch, cpus, platform, release, totalmem } from 'node:os';

/** What the numbers were measured on. */
export interface Machine {
  readonly date: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly node: string;
  readonly postgres: string;
}

export function machine(postgres: string): Machine {
  const [first] = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    cpu: first?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${arch()} ${release()}`,
    node: process.version,
    postgres,
  };
}
