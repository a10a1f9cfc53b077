import { isJsonObject, type JsonObject } from '../core/json-object.ts';
import { err, ok, type Result } from '../core/result.ts';

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

/** The position of a fault in a file, and what to do about it. */
export interface FileFault {
  readonly code: 'FIXTURES_INVALID' | 'BASELINE_INVALID';
  /** `tools.read_file.calls[0]` */
  readonly field: string;
  readonly problem: string;
}

export const NO_FIXTURES: Fixtures = { seed: undefined, tools: new Map() };

const MAX_TOOLS = 1_000;
const MAX_CALLS = 50;

/** Reads the text of a fixtures file. FIXTURES_INVALID */
export function readFixtures(text: string): Result<Fixtures, FileFault> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return fault('', `is not JSON: ${error instanceof Error ? error.message : 'unreadable'}`);
  }
  if (!isJsonObject(value)) return fault('', 'must be a JSON object');
  const unknown = Object.keys(value).find((key) => !['seed', 'tools'].includes(key));
  if (unknown !== undefined) return fault(unknown, 'is unknown; there are "seed" and "tools"');
  const { seed, tools = {} } = value;
  if (seed !== undefined && typeof seed !== 'string') return fault('seed', 'must be the path of a folder');
  if (!isJsonObject(tools)) return fault('tools', 'must be an object with one member per tool');
  if (Object.keys(tools).length > MAX_TOOLS) return fault('tools', `must have at most ${MAX_TOOLS} members`);
  const read = new Map<string, ToolFixture>();
  for (const [name, given] of Object.entries(tools)) {
    const tool = readTool(`tools.${name}`, given);
    if (!tool.ok) return tool;
    read.set(name, tool.value);
  }
  return ok({ seed, tools: read });
}

function readTool(at: string, given: unknown): Result<ToolFixture, FileFault> {
  if (!isJsonObject(given)) return fault(at, 'must be an object with "calls" or "skip"');
  const unknown = Object.keys(given).find((key) => !['calls', 'skip'].includes(key));
  if (unknown !== undefined) return fault(`${at}.${unknown}`, 'is unknown; there are "calls" and "skip"');
  const { calls = [], skip } = given;
  if (skip !== undefined && (typeof skip !== 'string' || skip.trim() === ''))
    return fault(`${at}.skip`, 'must be a text that says why the tool is never called');
  if (!Array.isArray(calls) || calls.length > MAX_CALLS)
    return fault(`${at}.calls`, `must be a list of at most ${MAX_CALLS} objects, the arguments of each call`);
  const wrong = calls.findIndex((call) => !isJsonObject(call));
  if (wrong >= 0) return fault(`${at}.calls[${wrong}]`, 'must be an object, the arguments of one call');
  return ok({ calls: calls.filter(isJsonObject), skip });
}

function fault(field: string, problem: string): { readonly ok: false; readonly error: FileFault } {
  return err({ code: 'FIXTURES_INVALID', field, problem });
}

/** A fixtures file to fill in: for each tool the arguments that would be used without it. */
export function fixturesText(
  tools: readonly { readonly name: string; readonly calls: readonly JsonObject[] }[],
): string {
  const members = tools.map(({ name, calls }) => [name, { calls }] as const);
  return `${JSON.stringify({ tools: Object.fromEntries(members) }, undefined, 2)}\n`;
}
