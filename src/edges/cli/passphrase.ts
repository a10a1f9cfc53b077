import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { askUnseen, hasSomebody } from './ask.ts';
import type { Runtime } from './runtime.ts';

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
  if (!hasSomebody()) return ok(undefined);
  const typed = await askUnseen(question);
  if (typed === undefined) return err({ code: 'CANCELLED' });
  return ok(typed === '' ? undefined : typed);
}
