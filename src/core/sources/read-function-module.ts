import { addFault, type Fault, fitTextAt, type JsonPosition, memberAt, textAt } from '../json-position.ts';
import { list, record, reportUnknown, wholeNumber } from '../json-reader.ts';
import { err, ok, type Result } from '../result.ts';
import type { FunctionModuleSpec } from './custom-tools.ts';
import { MAX_TIMER_MS } from '../timer.ts';

export type ModuleEntry = Readonly<Record<string, unknown>>;

const DEFAULT_MEMORY_MB = 256;
const DEFAULT_TIMEOUT_MS = 60_000;

const KNOWN: readonly string[] = ['module', 'env', 'reads', 'writes', 'memoryMb', 'timeoutMs'];

const texts = record(textAt);
const paths = list((position) => fitTextAt(position, (path) => (path === '' ? 'it is empty' : undefined)));
const memory = wholeNumber({ min: 16, max: 65_536 });
const timeout = wholeNumber({ min: 1, max: MAX_TIMER_MS });

/** Reads an entry of `functions`; `absolute` makes a path as written absolute. */
export function readFunctionModule(
  entry: ModuleEntry,
  absolute: (path: string) => string,
): Result<FunctionModuleSpec, readonly Fault[]> {
  const faults: Fault[] = [];
  const position: JsonPosition = { value: entry, pointer: '', faults };
  const at = (name: string): JsonPosition => memberAt(position, name);
  const given = (name: string, defaultValue: unknown): JsonPosition => {
    const member = at(name);
    return member.value === undefined ? { ...member, value: defaultValue } : member;
  };
  reportUnknown(position, KNOWN);
  const spec: FunctionModuleSpec = {
    path: absolute(readModule(at('module'))),
    env: texts(given('env', {})),
    reads: paths(given('reads', [])).map(absolute),
    writes: paths(given('writes', [])).map(absolute),
    // Null counts as absent.
    memoryMb: memory({ ...at('memoryMb'), value: entry['memoryMb'] ?? DEFAULT_MEMORY_MB }),
    timeoutMs: timeout({ ...at('timeoutMs'), value: entry['timeoutMs'] ?? DEFAULT_TIMEOUT_MS }),
  };
  if ('NODE_OPTIONS' in spec.env)
    addFault(memberAt(at('env'), 'NODE_OPTIONS'), 'it could loosen what confines the module; take it out');
  return faults.length === 0 ? ok(spec) : err(faults);
}

function readModule(position: JsonPosition): string {
  const { value } = position;
  if (typeof value !== 'string' || value === '')
    addFault(position, 'it must be the path of a .js, .mjs or .ts file');
  else if (/\.[cm]?[jt]s$/.test(value)) return value;
  else addFault(position, 'a module of functions is a .js, .mjs, .ts or .mts file');
  return '';
}
