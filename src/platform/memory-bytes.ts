import { totalmem } from 'node:os';

/** The memory of the machine, or of the container if it has less. */
export function memoryBytes(): number {
  return Math.min(totalmem(), process.constrainedMemory() || Infinity);
}
