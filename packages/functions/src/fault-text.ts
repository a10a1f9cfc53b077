import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from './harden-globals.ts';
import { shorten } from '@assay-mcp/kit/shorten';
import { isInside } from '@assay-mcp/kit/platform/is-inside';

/** Maximum length of an error text. */
const LIMIT = 16_000;
const MAX_FRAMES = 10;
/** Names that stack traces use for code outside of functions. */
const UNNAMED: ReadonlySet<string> = new Set(['', 'async', 'Object.<anonymous>']);
const MAX_CAUSES = 3;
const UNPRINTABLE = 'It threw something that cannot be shown.';

/** The folder of the module; positions in its files are relative to it. */
export interface FaultContext {
  readonly folder: string;
}

/** Describes any thrown value, with the module's frames of its stack. Never throws. */
export function formatThrown(thrown: unknown, context: FaultContext): string {
  return shorten(tryTo(() => described(thrown, context, 0)) ?? UNPRINTABLE, LIMIT);
}

/** The position in the module's files that this was called from. */
export function getCallPosition(context: FaultContext): string | undefined {
  return framesOf(new Error().stack ?? '', context)[0]?.position;
}

/** The result of `get`, or undefined if it throws. */
export function tryTo<T>(get: () => T): T | undefined {
  try {
    return get();
  } catch {
    return undefined;
  }
}

/** The value as a string, or undefined if the conversion throws. */
export function tryToString(get: () => unknown): string | undefined {
  return tryTo(() => String(get()));
}

function described(thrown: unknown, context: FaultContext, depth: number): string {
  if (!(thrown instanceof Error)) return notAnError(thrown);
  const stack = tryToString(() => thrown.stack) ?? '';
  const frames = framesOf(stack, context);
  const lines = [
    `${headOf(thrown, context)}${positionOfSyntaxError(stack, context)}`,
    ...frames.map(({ caller, position }) =>
      caller === '' ? `    at ${position}` : `    at ${caller} (${position})`,
    ),
  ];
  const cause = depth < MAX_CAUSES ? tryTo(() => thrown.cause) : undefined;
  if (cause !== undefined) lines.push(`Caused by: ${described(cause, context, depth + 1)}`);
  return lines.join('\n');
}

function notAnError(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown === '' ? 'It threw an empty text.' : thrown;
  if (thrown === undefined || thrown === null) return `It threw ${String(thrown)}.`;
  const json = tryTo(() => stringify(thrown) as string | undefined); // undefined for a function or symbol
  const text = json ?? tryToString(() => thrown);
  return text === undefined ? UNPRINTABLE : `It threw ${shorten(text, LIMIT)}`;
}

function headOf(error: Error, context: FaultContext): string {
  const code = tryTo(() => (error as { readonly code?: unknown }).code);
  if (code === 'ERR_ACCESS_DENIED') return forbidden(error);
  const name = tryToString(() => error.name) ?? 'Error';
  const message = tryToString(() => error.message) ?? '';
  const within = shorten(message, LIMIT).replaceAll(context.folder + sep, '');
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')
    return `${within.replace(/\.?$/, '.')} Node strips types and generates no code: write what is left when types are taken away, such as a const object in place of an enum`;
  const head = name === 'Error' || name === '' ? within : `${name}: ${within}`;
  return head === '' ? 'It threw an Error without a message.' : head;
}

/** Rewords Node's permission errors for the module's author: Node addresses the person who starts the process. */
function forbidden(error: Error): string {
  const { permission, resource } = error as { readonly permission?: unknown; readonly resource?: unknown };
  const path = stringify(typeof resource === 'string' ? resource.slice(0, 500) : '');
  switch (permission) {
    case 'FileSystemRead':
      return `It may not read ${path}: only its own folder, and what the settings of the module list under "reads"`;
    case 'FileSystemWrite':
      return `It may not write ${path}: only what the settings of the module list under "writes", and nothing in a read-only tool`;
    case 'ChildProcess':
      return 'It may not start processes';
    case 'WorkerThreads':
      return 'It may not start threads';
    case '':
      return `It may not do this: ${error.message}`;
    default:
      return `It may not use ${tryToString(() => permission) ?? 'this'}`;
  }
}

interface Frame {
  /** Empty for code outside of functions. */
  readonly caller: string;
  /** `tools.ts:5:11` */
  readonly position: string;
}

/** The stack frames in the module's files. */
function framesOf(stack: string, context: FaultContext): readonly Frame[] {
  return stack
    .slice(0, 100_000)
    .split('\n')
    .map((line) => /^ {4}(at .*?)\(?((?:file:\/\/)?\/.*|[A-Za-z]:\\.*):(\d+):(\d+)\)?$/.exec(line))
    .flatMap((found) => {
      const [, head = '', file = '', line = '', column = ''] = found ?? [];
      const inside = insideOf(file, context);
      if (inside === undefined) return [];
      const caller = head.slice(3).trim();
      return [{ caller: UNNAMED.has(caller) ? '' : caller, position: `${inside}:${line}:${column}` }];
    })
    .slice(0, MAX_FRAMES);
}

/** Syntax errors precede the stack with `file:///…:3`, the line, and a mark below it. */
function positionOfSyntaxError(stack: string, context: FaultContext): string {
  const [first = '', ...rest] = stack.split('\n', 5);
  const [, file = '', line = ''] = /^(file:\/\/.*|\/.*):(\d+)$/.exec(first) ?? [];
  const inside = insideOf(file, context);
  if (inside === undefined) return '';
  const marked = rest.find((one) => /^\s*\^+/.test(one));
  const column = marked === undefined ? '' : `:${marked.indexOf('^') + 1}`;
  return ` (${inside}:${line}${column})`;
}

/** The path relative to the module's folder. Undefined if it is outside. */
function insideOf(file: string, { folder }: FaultContext): string | undefined {
  if (file === '') return undefined;
  const path = tryTo(() => (file.startsWith('file:') ? fileURLToPath(file) : file));
  if (path === undefined || !isInside(path, folder)) return undefined;
  return relative(folder, path).split(sep).join('/');
}
