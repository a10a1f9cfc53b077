import { setFlagsFromString } from 'node:v8';

/**
 * V8 samples a hundred objects to predict which kinds live long, and allocates those in the old generation. A
 * collection while many calls are in flight makes it misjudge call data: each call then stays until a full collection
 * and costs 50 % more. A relay gains nothing from the prediction, so it is turned off (docs/adr/0041).
 */
export function disablePretenuring(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}
