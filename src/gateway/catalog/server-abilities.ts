import { declares } from '../../protocol/capabilities.ts';
import type { Server } from './server.ts';

/** Whether a server has a capability, or a member of it. True if it has never declared any. */
export function mayHave({ capabilities }: Server, capability: string, member?: string): boolean {
  if (capabilities === undefined) return true;
  return member === undefined
    ? capabilities[capability] !== undefined
    : declares(capabilities, capability, member);
}

/** False for a server that is down and never listed anything: an empty list would be wrong. */
export function isListable({ state: life, capabilities }: Server): boolean {
  return capabilities !== undefined || !('nextMs' in life);
}
