import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from './json.ts';
import { fixture, tempDir } from './place.ts';

/** A server whose tools a test changes while it runs. */
export interface Filed {
  /** Its entry in a config, or in a body of `POST /gateways`. */
  readonly entry: JsonObject;
  /** The same tools behind another command. */
  readonly swapped: JsonObject;
  have(tools: readonly JsonObject[]): void;
}

/** `quiet`: it does not say that its tools have changed. */
export function filedServer(
  tools: readonly JsonObject[],
  { quiet = false, env }: { readonly quiet?: boolean; readonly env?: JsonObject } = {},
): Filed {
  const path = join(tempDir(), 'tools.json');
  const have = (now: readonly JsonObject[]): void => {
    // Whoever reads it meanwhile reads the one or the other.
    writeFileSync(`${path}.new`, JSON.stringify(now));
    renameSync(`${path}.new`, path);
  };
  have(tools);
  const args = [`--file=${path}`, ...(quiet ? ['--quiet'] : [])];
  const more = env === undefined ? {} : { env };
  return {
    entry: fixture('filed', args, more),
    swapped: fixture('filed', [...args, '--swapped'], more),
    have,
  };
}

/** A definition that says all that is not named otherwise. */
export function toolNamed(name: string, more: JsonObject = {}): JsonObject {
  return { name, description: `Does ${name}.`, inputSchema: { type: 'object', properties: {} }, ...more };
}
