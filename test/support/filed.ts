import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from './json.ts';
import { fixture, tempDir } from './paths.ts';

/** A server whose tools a test can change while it runs. */
export interface Filed {
  /** Its entry in a config, or in a body of `POST /gateways`. */
  readonly entry: JsonObject;
  /** The same tools with a different command. */
  readonly swapped: JsonObject;
  have(tools: readonly JsonObject[]): void;
}

/** If `quiet`, it does not notify clients of changed tools. */
export function filedServer(
  tools: readonly JsonObject[],
  { quiet = false, env }: { readonly quiet?: boolean; readonly env?: JsonObject } = {},
): Filed {
  const path = join(tempDir(), 'tools.json');
  const have = (now: readonly JsonObject[]): void => {
    // Concurrent readers see either the old or the new file.
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

/** A complete definition with defaults for everything not given. */
export function toolNamed(name: string, more: JsonObject = {}): JsonObject {
  return { name, description: `Does ${name}.`, inputSchema: { type: 'object', properties: {} }, ...more };
}
