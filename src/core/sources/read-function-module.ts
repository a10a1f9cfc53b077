import { err, ok, type Result } from '../result.ts';
import type { EntryFault } from '../json-position.ts';
import type { FunctionModuleSpec } from './custom-tools.ts';
import { MAX_TIMER_MS } from '../timer.ts';

export type ModuleEntry = Readonly<Record<string, unknown>>;

const DEFAULT_MEMORY_MB = 256;
const DEFAULT_TIMEOUT_MS = 60_000;

const KNOWN: readonly string[] = ['module', 'env', 'reads', 'writes', 'memoryMb', 'timeoutMs'];

/** Reads an entry of `functions`; `absolute` makes a path as written absolute. */
export function readFunctionModule(
  entry: ModuleEntry,
  absolute: (path: string) => string,
): Result<FunctionModuleSpec, readonly EntryFault[]> {
  const faults: EntryFault[] = [];
  for (const field of Object.keys(entry))
    if (!KNOWN.includes(field))
      faults.push({ field, reason: `There is no such member; there are ${KNOWN.join(', ')}.` });
  const { module, env = {}, reads = [], writes = [] } = entry;
  if (!isText(module)) faults.push({ field: 'module', reason: 'Write the path of a .js, .mjs or .ts file.' });
  else if (!/\.[cm]?[jt]s$/.test(module))
    faults.push({ field: 'module', reason: 'A module of functions is a .js, .mjs, .ts or .mts file.' });
  if (!isTexts(env)) faults.push({ field: 'env', reason: 'Write an object of strings.' });
  else if ('NODE_OPTIONS' in env)
    faults.push({
      field: 'env.NODE_OPTIONS',
      reason: 'It could loosen what confines the module. Take it out.',
    });
  for (const [field, paths] of Object.entries({ reads, writes }))
    if (!Array.isArray(paths) || !paths.every(isText))
      faults.push({ field, reason: 'Write an array of paths.' });
  const memoryMb = wholeIn(entry, {
    field: 'memoryMb',
    min: 16,
    max: 65_536,
    defaultValue: DEFAULT_MEMORY_MB,
  });
  const timeoutMs = wholeIn(entry, {
    field: 'timeoutMs',
    min: 1,
    max: MAX_TIMER_MS,
    defaultValue: DEFAULT_TIMEOUT_MS,
  });
  for (const given of [memoryMb, timeoutMs]) if (!given.ok) faults.push(given.error);
  if (faults.length > 0 || !memoryMb.ok || !timeoutMs.ok) return err(faults);
  return ok({
    path: absolute(module as string), // checked above
    env: env as Readonly<Record<string, string>>, // checked above
    reads: (reads as readonly string[]).map(absolute),
    writes: (writes as readonly string[]).map(absolute),
    memoryMb: memoryMb.value,
    timeoutMs: timeoutMs.value,
  });
}

interface Whole {
  readonly field: string;
  readonly min: number;
  readonly max: number;
  readonly defaultValue: number;
}

function wholeIn(entry: ModuleEntry, { field, min, max, defaultValue }: Whole): Result<number, EntryFault> {
  const value = entry[field] ?? defaultValue;
  const isFit = typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
  return isFit ? ok(value) : err({ field, reason: `It must be a whole number from ${min} to ${max}.` });
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((one) => typeof one === 'string')
  );
}
