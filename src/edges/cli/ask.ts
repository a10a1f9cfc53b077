import { createInterface } from 'node:readline';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Runtime } from './runtime.ts';

/** Whether a user at the terminal can answer questions. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Reads a line without echoing it. Undefined if the user cancels. */
function askHidden(question: string): Promise<string | undefined> {
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

/** Asks a yes/no question. `usual` is what Enter means. False if the input ends. */
export function confirm(question: string, usual: 'yes' | 'no' = 'no'): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    lines.once('close', () => resolve(false));
    lines.question(`${question} ${usual === 'yes' ? '[Y/n]' : '[y/N]'} `, (answer) => {
      resolve(/^y(?:es)?$/i.test(answer.trim() || usual));
      lines.close();
    });
  });
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
