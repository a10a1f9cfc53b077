import { totalmem } from 'node:os';

/** The memory of the machine, or of the container if it has less. */
export function getMemoryBytes(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}
