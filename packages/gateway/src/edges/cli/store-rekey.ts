import { Command } from 'commander';
import { EXIT } from '../../core/errors.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import { print, printError, printJson, formatTable } from '@assay-mcp/kit/platform/terminal/print';
import { withProgress } from '@assay-mcp/kit/platform/terminal/progress';
import type { UnfinishedRow, RekeyReport } from '../../gateway/services/store/rekey.ts';
import { type Done, type JsonOptions, withConfig } from './common-options.ts';
import { printRefusal } from './output.ts';
import type { StorePorts } from './store-ports.ts';

/** `assay store rekey` */
export function rekeyCommand(runtime: StorePorts, done: Done): Command {
  return withConfig(new Command('rekey'))
    .description('encrypt the store with the newest key, while gateways run; repeat it after an interruption')
    .option('--json', 'print JSON')
    .action(async (options: JsonOptions) => done(await rekey(runtime, options)));
}

/** Counts on stdout, progress and what is left to do on stderr. */
async function rekey(runtime: StorePorts, options: JsonOptions): Promise<number> {
  const rekeyed = await withProgress('encrypting the store', ({ say }) =>
    runtime.rekeyStore(options, (count, total) => say(`encrypting the store: ${count} of ${total}`)),
  );
  if (!rekeyed.ok) return printRefusal(rekeyed.error);
  const report = rekeyed.value;
  if (options.json === true) printJson(toJson(report));
  else print(formatReport(report));
  printLeft(report);
  return report.unreadable.length + report.remaining.length === 0 ? EXIT.done : EXIT.failed;
}

function formatReport({ key, counts }: RekeyReport): string {
  const rows = counts.map(({ kind, current, changed, unreadable, remaining }) => [
    kind,
    ...[current, changed, unreadable, remaining].map(String),
  ]);
  const table = formatTable(['KIND', 'UNCHANGED', 'RE-ENCRYPTED', 'UNREADABLE', 'NOT DONE'], rows);
  return `${table}\nThe newest key is ${key.id} (${toPrintable(key.place)}).`;
}

function toJson({ clientValuesExpireMs, ...report }: RekeyReport): Readonly<Record<string, unknown>> {
  return { ...report, clientValuesExpireAt: new Date(clientValuesExpireMs).toISOString() };
}

function printLeft({ unreadable, remaining, usedKeys, unusedKeys, clientValuesExpireMs }: RekeyReport): void {
  const note = (text: string): void => printError(toPrintable(text));
  for (const one of unreadable)
    note(`${formatRow(one)}: none of the keys decrypts it, which needs the key ${one.keyId}; left as it is.`);
  for (const one of remaining)
    note(`${formatRow(one)}: other processes keep writing it with the key ${one.keyId}; repeat the command.`);
  for (const { id, place } of usedKeys) note(`The key ${id} (${place}) is still used in the store. Keep it.`);
  if (unusedKeys.length === 0) return;
  for (const { id, place } of unusedKeys) note(`The key ${id} (${place}) is no longer used in the store.`);
  note(
    `Clients may hold values under such keys until ${new Date(clientValuesExpireMs).toISOString()}, if every gateway has the newest key now. Remove the keys after that.`,
  );
}

function formatRow({ kind, id }: UnfinishedRow): string {
  return `${kind} ${JSON.stringify(id)}`;
}
