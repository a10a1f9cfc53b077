import { createInterface } from 'node:readline';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Runtime } from './runtime.ts';

/** Whether somebody sits at the terminal and can answer. */
export function isInteractive(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** What somebody types without seeing it; undefined: he would rather not answer. */
function askHidden(question: string): Promise<string | undefined> {
  // Without an output nothing is echoed, and as a terminal the system does not echo either.
  const lines = createInterface({ input: process.stdin, terminal: true });
  // Not before: who answers at once would be seen.
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

/** Whether somebody says yes. */
export function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((resolve) => {
    lines.once('close', () => resolve(false));
    lines.question(`${question} [y/N] `, (answer) => {
      resolve(/^y(?:es)?$/i.test(answer.trim()));
      lines.close();
    });
  });
}

/**
 * The passphrase of a bundle: of a file, of ASSAY_PASSPHRASE, or of whoever sits at the terminal. It is never an argument,
 * which other users of the machine could read. Undefined: there is to be none.
 */
export async function passphraseFor(
  runtime: Pick<Runtime, 'readFile'>,
  file: string | undefined,
  question: string,
): Promise<Result<string | undefined, Refusal>> {
  if (file !== undefined) {
    const text = await runtime.readFile(file);
    // An editor ends a file with a line's end.
    return text.ok ? ok(text.value.replace(/\r?\n$/, '')) : text;
  }
  const given = process.env['ASSAY_PASSPHRASE'] ?? '';
  if (given !== '') return ok(given);
  if (!isInteractive()) return ok(undefined);
  const typed = await askHidden(question);
  if (typed === undefined) return err({ code: 'CANCELLED' });
  return ok(typed === '' ? undefined : typed);
}
