import { formatCount } from '../../core/counted.ts';
import { isJsonObject } from '../../core/json-object.ts';
import { toPrintable } from '../../core/printable.ts';
import { ok } from '../../core/result.ts';
import { printRefusal, formatJson, printError, printText, quoteText } from './output.ts';
import { readPassphrase } from './ask.ts';
import type { AppOptions } from '../../core/command-options.ts';
import type { Runtime } from './runtime.ts';
import { withOpened } from './with-opened.ts';

export interface ExportBundleOptions extends AppOptions {
  readonly file?: string;
  readonly passphraseFile?: string;
}

/** `assay export`: writes the bundle to stdout or a file, and lists omissions on stderr. */
export async function exportBundle(runtime: Runtime, options: ExportBundleOptions): Promise<number> {
  const { file, passphraseFile } = options;
  const question = 'Passphrase for the secrets (empty: leave them out):';
  const passphrase = await readPassphrase(runtime, passphraseFile, question);
  if (!passphrase.ok) return printRefusal(passphrase.error);
  return withOpened(runtime.openServices(options), async ({ bundles }) => {
    const made = await bundles.export(passphrase.value);
    if (!made.ok) return made;
    const text = formatJson(made.value);
    if (file === undefined) printText(text);
    else {
      const written = await runtime.writeFile(file, `${text}\n`);
      if (!written.ok) return written;
      printError(`Wrote ${quoteText(file)}.`);
    }
    const { records, sealed, leftOut = [] } = made.value;
    const withheld = records.filter(({ body }) => isJsonObject(body) && Object.hasOwn(body, 'withheld'));
    if (withheld.length > 0 && sealed === undefined)
      printError(
        `The secrets of ${formatCount(withheld.length, 'source')} are left out; with a passphrase they are sealed in it.`,
      );
    for (const { kind, name, reason } of leftOut)
      printError(`left out: the ${kind} ${quoteText(name)}: ${toPrintable(reason)}.`);
    return ok(undefined);
  });
}
