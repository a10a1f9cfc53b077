import { afterEach, beforeEach } from 'vitest';
import { countOpened, endOpenedSince } from './endings.ts';

/**
 * In a file whose tests open much: what a test has opened is closed when it is done, rather than when its file is. A gateway
 * that nobody uses any more watches its files all the same, and its thread could serve the next one.
 */
export function endAfterEach(): void {
  let count = 0;
  beforeEach(() => {
    count = countOpened();
  });
  afterEach(() => endOpenedSince(count));
}
