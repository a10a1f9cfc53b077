import { Command } from 'commander';
import type { BundleJson } from '../../core/bundle/bundle.ts';
import { formatCount } from '@assay-mcp/kit/counted';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import { toPrintable } from '@assay-mcp/kit/printable';
import { ok } from '@assay-mcp/kit/result';
import type { AppOptions } from '../../core/command-options.ts';
import { type Done, withConfig } from './common-options.ts';
import { formatJson, printError, printText, quoteText } from '@assay-mcp/kit/platform/terminal/print';
import { printRefusal } from './output.ts';
import { readPassphrase } from './ask.ts';
import type { Runtime } from './runtime.ts';
import { withApi } from './with-api.ts';

/** `assay export` */
export function exportCommand(runtime: Runtime, done: Done): Command {
  const command = new Command('export')
    .description('export everything that operators created, as a backup or to import elsewhere')
    .option('--file <file>', 'write to this file instead of stdout')
    .option('--toolset <names...>', 'export only these toolsets, with their notes')
    .option(
      '--passphrase-file <file>',
      'encrypt the secrets with the passphrase in this file (or ASSAY_PASSPHRASE)',
    )
    .option('--json', 'accepted for consistency; the output is always JSON')
    .action(async (options: ExportBundleOptions) => done(await exportBundle(runtime, options)));
  return withConfig(command);
}

interface ExportBundleOptions extends AppOptions {
  readonly file?: string;
  readonly passphraseFile?: string;
  /** Names of toolsets, which have no secrets. */
  readonly toolset?: readonly string[];
}

/** `assay export`: writes the bundle to stdout or a file, and lists omissions on stderr. */
async function exportBundle(runtime: Runtime, options: ExportBundleOptions): Promise<number> {
  const { file, passphraseFile, toolset: toolsets } = options;
  const question = 'Passphrase for the secrets (empty: leave them out):';
  const passphrase =
    toolsets === undefined ? await readPassphrase(runtime, passphraseFile, question) : ok(undefined);
  if (!passphrase.ok) return printRefusal(passphrase.error);
  return withApi(runtime, options, async (api) => {
    const made = await api.send<BundleJson>(
      passphrase.value === undefined
        ? {
            method: 'GET',
            path: '/export',
            query: toolsets === undefined ? {} : { toolset: toolsets.join(',') },
          }
        : { method: 'POST', path: '/export', body: { passphrase: passphrase.value } },
    );
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
