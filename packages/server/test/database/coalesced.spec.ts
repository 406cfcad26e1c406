import { describe, expect, it } from '@jest/globals';
import { Coalesced } from '#server/database/coalesced.js';

/** Runs that the test ends, in the order in which they began. */
function controlled() {
  const begun: { resolve(value: string): void; reject(error: Error): void }[] = [];
  const coalesced = new Coalesced(
    () => new Promise<string>((resolve, reject) => begun.push({ resolve, reject })),
  );
  return { begun, coalesced };
}

describe('Coalesced runs', () => {
  it('give each caller a run that begins after its call, which concurrent callers share', async () => {
    const { begun, coalesced } = controlled();
    const first = coalesced.result();
    const [second, third] = [coalesced.result(), coalesced.result()];
    expect(begun).toHaveLength(1);
    begun[0]?.resolve('before the later calls');
    await expect(first).resolves.toBe('before the later calls');
    begun[1]?.resolve('after them');
    await expect(Promise.all([second, third])).resolves.toEqual(['after them', 'after them']);
    expect(begun).toHaveLength(2);
  });

  it('reject for the callers of the run that failed alone', async () => {
    const { begun, coalesced } = controlled();
    const [first, second] = [coalesced.result(), coalesced.result()];
    begun[0]?.reject(new Error('away'));
    await expect(first).rejects.toThrow('away');
    begun[1]?.resolve('back');
    await expect(second).resolves.toBe('back');
    void coalesced.result();
    expect(begun).toHaveLength(3);
  });
});
