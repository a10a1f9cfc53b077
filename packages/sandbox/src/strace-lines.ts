/** One completed system call as `strace -f -ttt -y` printed it. */
export interface SystemCall {
  readonly pid: number;
  /** Epoch time in ms at which it began. */
  readonly atMs: number;
  readonly name: string;
  /** As printed, split at top-level commas. */
  readonly args: readonly string[];
  /** As printed after the `=`, such as `3</etc/hosts>` or `-1 ENOENT (No such file or directory)`. */
  readonly result: string;
}

interface Begun {
  readonly atMs: number;
  readonly text: string;
}

const LINE = /^(\d+)\s+(\d+\.\d+) (.*)$/s;
const UNFINISHED = ' <unfinished ...>';
const RESUMED = /^<\.\.\. \w+ resumed>(.*)$/s;
/** Maximum number of threads inside a traced call; further ones are not followed. */
const MAX_BEGUN = 20_000;

/** Joins lines into system calls. A call that another thread interrupted is printed in two parts, joined by process id. */
export class StraceLines {
  readonly #begun = new Map<number, Begun>();
  readonly #onCall: (call: SystemCall) => void;
  readonly #onExit: (pid: number) => void;
  /** Number of lines that could not be parsed. */
  unreadable = 0;

  constructor(onCall: (call: SystemCall) => void, onExit: (pid: number) => void) {
    this.#onCall = onCall;
    this.#onExit = onExit;
  }

  /** One line without its terminator. */
  line(line: string): void {
    const match = LINE.exec(line);
    if (match === null) {
      this.unreadable += 1;
      return;
    }
    const pid = Number(match[1]);
    const atMs = Number(match[2]) * 1_000;
    const text = match[3] ?? '';
    if (text.startsWith('+++ ')) {
      this.#begun.delete(pid);
      this.#onExit(pid);
    } else if (text.endsWith(UNFINISHED)) this.#begin(pid, { atMs, text: text.slice(0, -UNFINISHED.length) });
    else if (!text.startsWith('--- ')) this.#finish(pid, atMs, text);
  }

  #begin(pid: number, begun: Begun): void {
    if (this.#begun.size < MAX_BEGUN) this.#begun.set(pid, begun);
    else this.unreadable += 1;
  }

  #finish(pid: number, atMs: number, text: string): void {
    const rest = RESUMED.exec(text)?.[1];
    const begun = rest === undefined ? undefined : this.#begun.get(pid);
    if (rest !== undefined) this.#begun.delete(pid);
    const call = readCall(rest === undefined ? text : (begun?.text ?? '') + rest);
    if (call === undefined) this.unreadable += 1;
    else this.#onCall({ pid, atMs: begun?.atMs ?? atMs, ...call });
  }
}

/** Undefined if the text is not a call with its result. */
function readCall(text: string): Pick<SystemCall, 'name' | 'args' | 'result'> | undefined {
  const open = text.indexOf('(');
  const name = text.slice(0, open);
  if (open < 1 || !/^\w+$/.test(name)) return undefined;
  const args: string[] = [];
  let from = open + 1;
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') at = afterString(text, at) - 1;
    else if (char === '<' && isAnnotation(text, at)) at = Math.max(at, text.indexOf('>', at));
    else if (char === '(' || char === '[' || char === '{') depth += 1;
    else if (depth > 0 && (char === ')' || char === ']' || char === '}')) depth -= 1;
    else if (depth === 0 && (char === ',' || char === ')')) {
      const arg = text.slice(from, at).trim();
      if (arg !== '') args.push(arg);
      from = at + 1;
      if (char === ')') {
        const result = /^\s*= (.+)$/s.exec(text.slice(from))?.[1];
        return result === undefined ? undefined : { name, args, result };
      }
    }
  }
  return undefined;
}

/** Index after the closing quote. */
function afterString(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at += 1)
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  return text.length;
}

/** True at the `<` of `3</path>` or `AT_FDCWD</path>`. A `>` in the path is printed as an escape. */
function isAnnotation(text: string, at: number): boolean {
  return /[\dD]/.test(text[at - 1] ?? '') && /[/\w]/.test(text[at + 1] ?? '');
}

/** The file of a descriptor, such as `3</path>`: its path or a name such as `socket:[7]`. */
export function parseDescriptorPath(printed: string): string | undefined {
  const path = /^(?:\d+|AT_FDCWD)<(.*)>(?:\(deleted\))?$/s.exec(printed)?.[1];
  return path === undefined ? undefined : unescape(path).toString();
}

/** The bytes of a printed string; undefined if it is not a string. Long strings may be truncated. */
export function parseStringBytes(printed: string): Buffer | undefined {
  const text = /^"(.*)"(?:\.\.\.)?$/s.exec(printed)?.[1];
  return text === undefined ? undefined : unescape(text);
}

/** The elements of a printed list of strings, such as `["sh", "-c"]`. */
export function parseStringList(printed: string): readonly string[] {
  return [...printed.matchAll(/"((?:[^"\\]|\\.)*)"/gs)].map(([, text]) => unescape(text ?? '').toString());
}

const LETTERS: Readonly<Record<string, number>> = { n: 10, t: 9, r: 13, v: 11, f: 12 };

function unescape(text: string): Buffer {
  if (!text.includes('\\')) return Buffer.from(text, 'latin1');
  const bytes = Buffer.alloc(text.length);
  let length = 0;
  for (const [part, octal, char] of text.matchAll(/\\([0-7]{1,3})|\\(.)|[^\\]/gs)) {
    if (octal !== undefined) bytes[length] = parseInt(octal, 8);
    else bytes[length] = LETTERS[char ?? ''] ?? (char ?? part).charCodeAt(0);
    length += 1;
  }
  return bytes.subarray(0, length);
}
