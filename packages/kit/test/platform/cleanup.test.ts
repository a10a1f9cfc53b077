import { expect, it } from 'vitest';
import { Cleanup } from '../../src/platform/cleanup.ts';

it('closes everything once in reverse order, even if one close fails', async () => {
  const cleanup = new Cleanup();
  const closed: string[] = [];
  cleanup.defer(() => closed.push('store'));
  cleanup.defer(() => {
    throw new Error('the catalog failed');
  });
  cleanup.defer(async () => {
    await Promise.resolve();
    closed.push('server');
  });
  const both = [cleanup.close(), cleanup.close()];
  await expect(both[0]).rejects.toThrow('the catalog failed');
  await expect(both[1]).rejects.toThrow('the catalog failed');
  expect(closed).toEqual(['server', 'store']);
});
