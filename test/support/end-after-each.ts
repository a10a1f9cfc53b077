import { afterEach, beforeEach } from 'vitest';
import { countOpened, endOpenedSince } from './endings.ts';

/**
 * For files whose tests open a lot: closes what a test opened at the end of that test instead of the file. An unused
 * gateway still watches its files, and its thread could serve the next gateway.
 */
export function endAfterEach(): void {
  let count = 0;
  beforeEach(() => {
    count = countOpened();
  });
  afterEach(() => endOpenedSince(count));
}
