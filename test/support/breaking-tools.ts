// Tools whose server disconnects during their first calls. Their work is recorded on disk, so it survives the server.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toolOf, type Incoming } from '../fixtures/peer.ts';
import { at, type JsonObject } from './json.ts';

export const MOMENTS = ['before', 'during', 'after'] as const;
/** The point in its work at which the server disconnects. */
export type Moment = (typeof MOMENTS)[number];

export const BREAKING_TOOLS: readonly JsonObject[] = [
  { ...toolOf('read'), annotations: { readOnlyHint: true } },
  { ...toolOf('set'), annotations: { readOnlyHint: false, idempotentHint: true } },
  { ...toolOf('add'), annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false } },
];

/** Arguments: the server disconnects at that moment in the first `breaks` calls with this id. */
export function breaking(id: string, moment: Moment, breaks: number): JsonObject {
  return { id, moment, breaks };
}

/** Does the work of one call up to its moment. Returns the moment at which to disconnect; undefined to answer. */
export function workOn({ params }: Incoming, dir: string): Moment | undefined {
  const args = at(params, 'arguments');
  const id = String(at(args, 'id'));
  const moment = MOMENTS.find((one) => one === at(args, 'moment'));
  note(dir, id, 'arrived');
  const breaksNow = workDone(dir, id, 'arrived') <= Number(at(args, 'breaks'));
  if (breaksNow && moment === 'before') return moment;
  note(dir, id, 'began');
  if (breaksNow && moment === 'during') return moment;
  note(dir, id, 'ran');
  return breaksNow ? moment : undefined;
}

/** How often the calls with this id got this far. */
export function workDone(dir: string, id: string, step: 'arrived' | 'began' | 'ran'): number {
  const path = join(dir, id);
  return existsSync(path) ? readFileSync(path, 'utf8').split(`${step}\n`).length - 1 : 0;
}

function note(dir: string, id: string, step: string): void {
  appendFileSync(join(dir, id), `${step}\n`);
}
