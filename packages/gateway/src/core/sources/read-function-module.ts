import type { JsonObject } from '@assay-mcp/kit/json-object';
import { addFault, type Fault, readMemberAt, type JsonPosition } from '@assay-mcp/kit/json-position';
import {
  described,
  fitText,
  list,
  object,
  optional,
  type Reader,
  record,
  getSchema,
  text,
  wholeNumber,
  withSchema,
} from '@assay-mcp/kit/json-reader';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { FunctionModuleSpec } from './custom-tools.ts';
import { MAX_TIMER_MS } from '@assay-mcp/kit/timer';

export type ModuleEntry = Readonly<Record<string, unknown>>;

const DEFAULT_MEMORY_MB = 256;
const DEFAULT_TIMEOUT_MS = 60_000;

const modulePath: Reader<string> = withSchema(
  (position) => {
    const { value } = position;
    if (typeof value !== 'string' || value === '')
      addFault(position, 'it must be the path of a .js, .mjs or .ts file');
    else if (/\.[cm]?[jt]s$/.test(value)) return value;
    else addFault(position, 'a module of functions is a .js, .mjs, .ts or .mts file');
    return '';
  },
  () => ({ type: 'string', pattern: '\\.[cm]?[jt]s$' }),
);
const paths = list(fitText((path) => (path === '' ? 'it is empty' : undefined), { minLength: 1 }));

/** An entry of `functions`. A test compares the descriptions with docs/FUNCTIONS.md. */
const functionModule = object({
  module: described('path of the file, relative to the folder of the config file', modulePath),
  env: described('environment variables of its process', optional(record(text))),
  reads: described('files and folders that it may read beside its own folder', optional(paths)),
  writes: described('files and folders that it may read and write', optional(paths)),
  memoryMb: described('limit of its heap in MB', unlessNull(wholeNumber({ min: 16, max: 65_536 }))),
  timeoutMs: described('time limit for one call', unlessNull(wholeNumber({ min: 1, max: MAX_TIMER_MS }))),
});

/** The JSON Schema of an entry that is an object. */
export function functionModuleSchema(): JsonObject {
  return getSchema(functionModule);
}

/** Reads an entry of `functions`; `absolute` makes a path as written absolute. */
export function readFunctionModule(
  entry: ModuleEntry,
  absolute: (path: string) => string,
): Result<FunctionModuleSpec, readonly Fault[]> {
  const faults: Fault[] = [];
  const position: JsonPosition = { value: entry, pointer: '', faults };
  const { module, env = {}, reads = [], writes = [], ...limits } = functionModule(position);
  if ('NODE_OPTIONS' in env)
    addFault(
      readMemberAt(readMemberAt(position, 'env'), 'NODE_OPTIONS'),
      'it could loosen what confines the module; take it out',
    );
  const { memoryMb = DEFAULT_MEMORY_MB, timeoutMs = DEFAULT_TIMEOUT_MS } = limits;
  if (faults.length > 0) return err(faults);
  return ok({
    path: absolute(module),
    env,
    reads: reads.map(absolute),
    writes: writes.map(absolute),
    memoryMb,
    timeoutMs,
  });
}

/** An optional value; null counts as absent. */
function unlessNull<T>(read: Reader<T>): Reader<T | undefined> {
  return optional(
    withSchema(
      (position) => (position.value === null ? undefined : read(position)),
      () => ({ anyOf: [getSchema(read), { type: 'null' }] }),
    ),
  );
}
