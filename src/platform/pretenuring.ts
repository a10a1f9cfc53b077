import { setFlagsFromString } from 'node:v8';

/**
 * V8 guesses by a hundred objects which ones will live long, and puts all of their kind into the old generation from then
 * on. Where a collection comes while many calls are under way it takes what belongs to calls for such: each call then
 * stays until a full collection, and costs half as much again. What relays has nothing to win by the guess, so from here
 * on none is made (docs/adr/0041).
 */
export function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
