import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';

/** Collects the lines logged at some levels, in place of writing them, until mocks are restored. */
export function logLines(...levels: ('error' | 'warn')[]): string[] {
  const lines: string[] = [];
  for (const level of levels) {
    jest.spyOn(Logger.prototype, level).mockImplementation((line: unknown) => {
      lines.push(String(line));
    });
  }
  return lines;
}
