import { afterEach, beforeEach } from 'vitest';
import { countOpened, endOpenedSince } from './endings.ts';

/**
 * For files whose tests open much: closes what a test opened when that test is done, not at the end of the file. An
 * unused gateway still watches its files, and its thread could serve the next gateway.
 */
export function endAfterEach(): void {
  let count = 0;
  beforeEach(() => {
    count = countOpened();
  });
  afterEach(() => endOpenedSince(count));
}
