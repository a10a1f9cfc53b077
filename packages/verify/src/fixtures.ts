import type { JsonObject } from '@assay-mcp/kit/json-object';
import { anything, fitText, list, object, optional, record, text } from '@assay-mcp/kit/json-reader';
import { addFault } from '@assay-mcp/kit/json-position';
import { ok, type Result } from '@assay-mcp/kit/result';
import { type FileFault, readJsonFile } from './read-json-file.ts';

/** The fixtures file, kept with the server: how its tools are called when they are verified. */
export interface Fixtures {
  /** A folder whose contents are copied for each experiment, relative to the file. */
  readonly seed: string | undefined;
  readonly tools: ReadonlyMap<string, ToolFixture>;
}

export interface ToolFixture {
  /** Arguments, one object per call. `{seed}` stands for the folder of the seed data. */
  readonly calls: readonly JsonObject[];
  /** Why the tool must never be called. */
  readonly skip: string | undefined;
}

/** A tool of a fixtures file to fill in. */
export interface ToolDraft {
  readonly name: string;
  readonly calls: readonly JsonObject[];
  /** What is still to do, for the author. */
  readonly todo?: string;
}

/** Its name in the folder of the server. */
export const FIXTURES_FILE = 'assay-verify.json';

export const NO_FIXTURES: Fixtures = { seed: undefined, tools: new Map() };

const MAX_TOOLS = 1_000;
const MAX_CALLS = 50;

const tools = record(
  object({
    calls: optional(list<JsonObject>(record(anything), { max: MAX_CALLS, of: 'calls' })),
    // A note for the author, as --write-fixtures leaves it.
    todo: optional(text),
    skip: optional(
      fitText((why) => (why.trim() === '' ? 'it must say why the tool is never called' : undefined)),
    ),
  }),
);

const fixtures = object({
  seed: optional(text),
  tools: optional((position) => {
    const read = tools(position);
    if (Object.keys(read).length > MAX_TOOLS) addFault(position, `it may have at most ${MAX_TOOLS} tools`);
    return read;
  }),
});

/** Reads the text of a fixtures file. FIXTURES_INVALID */
export function readFixtures(json: string): Result<Fixtures, FileFault> {
  const read = readJsonFile(json, 'FIXTURES_INVALID', fixtures);
  if (!read.ok) return read;
  const { seed, tools: given = {} } = read.value;
  const named = Object.entries(given).map(([name, { calls = [], skip }]) => [name, { calls, skip }] as const);
  return ok({ seed, tools: new Map(named) });
}

/** A fixtures file to fill in: for each tool the arguments that would be used without it. */
export function serializeFixtures(tools: readonly ToolDraft[]): string {
  const members = tools.map(({ name, ...draft }) => [name, draft] as const);
  return `${JSON.stringify({ tools: Object.fromEntries(members) }, undefined, 2)}\n`;
}
