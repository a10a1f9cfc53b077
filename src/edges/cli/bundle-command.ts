import { Command } from 'commander';
import { withConfig, type Done } from './common-options.ts';
import type { ExportBundleOptions } from './export.ts';
import type { Runtime } from './runtime.ts';

/** `assay export`; its counterpart stands among what can be imported. */
export function exportCommand(runtime: Runtime, done: Done): Command {
  const command = new Command('export')
    .description('write all that operators made here, to keep it or to import it elsewhere')
    .option('--file <file>', 'into this file, in the place of stdout')
    .option('--passphrase-file <file>', 'seal the secrets with what it holds (or ASSAY_PASSPHRASE)')
    .option('--json', 'what it always is')
    .action(async (options: ExportBundleOptions) => {
      const { exportBundle } = await import('./export.ts');
      done(await exportBundle(runtime, options));
    });
  return withConfig(command);
}
