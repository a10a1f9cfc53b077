import { createInterface } from 'node:readline';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { pause } from '@assay-mcp/kit/platform/pause';
import { withProgress } from '@assay-mcp/kit/platform/terminal/progress';
import type { JsonOptions } from './common-options.ts';
import type { Runtime } from './runtime.ts';

/** Whether a user at the terminal can answer questions. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** How long in ms the terminal may take to hand over what was typed before a question. */
const TYPED_AHEAD_MS = 20;
const CTRL_C = '\u0003';

/** What was typed before a question was shown is no answer to it. */
async function discardTypedAhead(): Promise<void> {
  const { stdin } = process;
  if (!stdin.isTTY) return;
  const discard = (chunk: Buffer | string): void => {
    // In raw mode Ctrl+C is a character.
    if (chunk.toString().includes(CTRL_C)) process.kill(process.pid, 'SIGINT');
  };
  // In raw mode an unfinished line is handed over too.
  stdin.setRawMode(true);
  stdin.on('data', discard).resume();
  await pause(TYPED_AHEAD_MS);
  stdin.off('data', discard).pause();
  stdin.setRawMode(false);
}

/** Reads a line without echoing it. Undefined if the user cancels. */
export async function askHidden(question: string): Promise<string | undefined> {
  await discardTypedAhead();
  // Without `output`, readline echoes nothing; `terminal: true` turns off the system echo.
  const lines = createInterface({ input: process.stdin, terminal: true });
  // Asked only now: an answer typed before echo is off would be visible.
  process.stderr.write(`${question} `);
  return new Promise((resolve) => {
    let answer: string | undefined;
    lines.once('line', (line) => {
      answer = line;
      lines.close();
    });
    lines.once('close', () => {
      process.stderr.write('\n');
      resolve(answer);
    });
  });
}

/** Asks for a line. Undefined if the input ends. */
export async function ask(question: string): Promise<string | undefined> {
  await discardTypedAhead();
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    lines.once('close', () => resolve(undefined));
    lines.question(`${question} `, (answer) => {
      resolve(answer);
      lines.close();
    });
  });
}

/** Asks a yes/no question. `usual` is what Enter means. False if the input ends, or when `over` is aborted. */
export async function confirm(
  question: string,
  usual: 'yes' | 'no' = 'no',
  over?: AbortSignal,
): Promise<boolean> {
  await discardTypedAhead();
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    const stop = (): void => {
      process.stderr.write('\n');
      lines.close();
    };
    over?.addEventListener('abort', stop);
    lines.once('close', () => {
      over?.removeEventListener('abort', stop);
      resolve(false);
    });
    lines.question(`${question} ${usual === 'yes' ? '[Y/n]' : '[y/N]'} `, (answer) => {
      resolve(/^y(?:es)?$/i.test(answer.trim() || usual));
      lines.close();
    });
  });
}

/**
 * Opens a package of Assay. If it is missing, offers to fetch it, but only to a user at a terminal who is shown the
 * question.
 */
export async function openOrFetch<T>(
  runtime: Pick<Runtime, 'findFetch'>,
  options: JsonOptions,
  open: () => Promise<Result<T, Refusal>>,
): Promise<Result<T, Refusal>> {
  const opened = await open();
  if (opened.ok || (opened.error.code !== 'PACKAGE_MISSING' && opened.error.code !== 'PACKAGE_INCOMPATIBLE'))
    return opened;
  const { name, version } = opened.error;
  if (!isInteractive() || (process.env['CI'] ?? '') !== '' || options.json === true) return opened;
  const fetch = await runtime.findFetch(name, options);
  if (fetch === undefined) return opened;
  if (!(await confirm(`${name} ${version} is not installed. Fetch it from npm now?`))) return opened;
  const fetched = await withProgress(`fetching ${name}`, fetch);
  return fetched.ok ? open() : fetched;
}

/**
 * The passphrase of a bundle: from a file, ASSAY_PASSPHRASE, or the terminal. Never an argument, since other users of
 * the machine can read those. Undefined if none is given.
 */
export async function readPassphrase(
  runtime: Pick<Runtime, 'readFile'>,
  file: string | undefined,
  question: string,
): Promise<Result<string | undefined, Refusal>> {
  if (file !== undefined) {
    const text = await runtime.readFile(file);
    // Editors end a file with a newline.
    return text.ok ? ok(text.value.replace(/\r?\n$/, '')) : text;
  }
  const given = process.env['ASSAY_PASSPHRASE'] ?? '';
  if (given !== '') return ok(given);
  if (!isInteractive()) return ok(undefined);
  const typed = await askHidden(question);
  if (typed === undefined) return err({ code: 'CANCELLED' });
  return ok(typed === '' ? undefined : typed);
}
