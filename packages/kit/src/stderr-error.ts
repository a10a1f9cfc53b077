import { shorten } from './shorten.ts';

/** Characters shown of an error. */
const MAX_ERROR_LENGTH = 300;

/**
 * The line that says why a process failed, chosen from what it wrote to stderr: an exception, else a line that reports
 * an error, else the last line that is neither a stack frame nor part of a usage text. Control characters are removed,
 * and it is cut to a readable length. Undefined if there is none.
 */
export function findErrorLine(lines: readonly string[]): string | undefined {
  const cleaned = lines.map((line) => messageIn(removeControls(line)));
  const relevant = cleaned.filter((line) => line.trim() !== '' && !NOISE.test(line));
  const found =
    relevant.findLast((line) => EXCEPTION.test(line)) ??
    // npm explains an error in many lines; the first names it.
    relevant.find((line) => NPM_ERROR.test(line)) ??
    relevant.findLast((line) => MARKED.test(line)) ??
    relevant.findLast((line) => TELLING.test(line)) ??
    relevant.findLast((line) => !USAGE.test(line));
  const text = found
    ?.trim()
    .replace(/^\[cause\]: /, '')
    .replace(/\s+/g, ' ');
  return text === undefined ? undefined : shorten(text, MAX_ERROR_LENGTH);
}

/** At the start of a line: indented ones belong to the cause or the fields of the exception above. */
const EXCEPTION =
  /^(?:Uncaught |Unhandled |Caused by: |Fatal error: |thread '[^']*' panicked|Exception in thread "[^"]*" )*(?:[\w$.]*(?:Error|Exception|Exit|Interrupt)(?: \[\w+\])?: \S|panic: \S)/;
const NPM_ERROR = /^npm (?:ERR!|error) (?!code\b|errno\b|path\b|syscall\b|\d+\s*$|A complete log)/;
/** A level or prefix that marks an error. */
const MARKED =
  /(?:\b(?:error|fatal|critical|panic)\b\W*[:\]|]|\[(?:error|fatal)\]|: (?:command )?not found$)/i;
const TELLING =
  /\b(?:error|fail(?:ed|ure)?|fatal|cannot|can't|could not|couldn't|unable|missing|required|must (?:be|have|set|provide)|not (?:found|set|defined|provided|configured)|no such|denied|invalid|unauthorized|refused)\b/i;
/** Stack frames, code excerpts with their markers, and what runtimes and npx print after an error. */
const NOISE =
  /^(?:\s+at |\s*File "|\s*\^+\s*$|Node\.js v\d|Traceback \(|node:internal\/|npm (?:notice|warn)\b|\s*[{}[\]()]+[,;]?$|\s*\.\.\. \d+ )/;
const USAGE = /^(?:\s*usage\b|\s+-{1,2}\w|\s+<|options:|commands:|\s{4,}\S)/i;

/** Escape sequences of terminals, and all other control characters. */
const CONTROLS =
  // eslint-disable-next-line no-control-regex -- they are what is taken out
  /\u001b(?:\[[\d;:<=>?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])|[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g;

/** Without escape sequences of terminals and other control characters. */
export function removeControls(line: string): string {
  return line.replace(CONTROLS, '');
}

/** The message of a line of a JSON log; any other line unchanged. */
function messageIn(line: string): string {
  if (!line.startsWith('{') || !line.endsWith('}')) return line;
  try {
    const { msg, message = msg, level } = JSON.parse(line) as Readonly<Record<string, unknown>>;
    if (typeof message !== 'string') return line;
    const isError = level === 'error' || level === 'fatal' || (typeof level === 'number' && level >= 50);
    return isError ? `Error: ${message}` : message;
  } catch {
    return line;
  }
}
