import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { at, type Json } from './json.ts';

/** The process of the running gateway of a home, as its lock says. */
export function findGatewayPid(home: string): number | undefined {
  const [lock] = readdirSync(home).filter((name) => name.endsWith('.lock'));
  return lock === undefined
    ? undefined
    : (at(JSON.parse(readFileSync(join(home, lock), 'utf8')) as Json, 'pid') as number);
}
