import { Command } from 'commander';
import { EXIT } from '../../core/errors.ts';
import { formatCount } from '@assay-mcp/kit/counted';
import { quote } from '@assay-mcp/kit/printable';
import { quoteShellArgument } from '@assay-mcp/kit/shell-argument';
import { formatProse, print, printError, printJson } from '@assay-mcp/kit/platform/terminal/print';
import { type Done, type JsonOptions, withConfig } from './common-options.ts';
import { printRefusal } from './output.ts';
import { rekeyCommand } from './store-rekey.ts';
import type { StoreBackup, StoreCheck, StorePorts } from './store-ports.ts';

/** `assay store` with its subcommands. */
export function storeCommand(runtime: StorePorts, done: Done): Command {
  const store = new Command('store').description('back up, restore, check and rekey the store of the home');
  const commands = [
    new Command('backup')
      .argument('<file>')
      .description('write a copy of the store, also while Assay runs')
      .option('--force', 'replace the file if it exists')
      .action(async (file: string, options: BackupOptions) => done(await backUp(runtime, file, options))),
    new Command('restore')
      .argument('<file>')
      .description('replace the store by a backup, while no Assay runs; the present one is kept')
      .action(async (file: string, options: JsonOptions) => done(await restore(runtime, file, options))),
    new Command('check')
      .description('check that the store is intact, readable with the keys of this home, and unaltered')
      .action(async (options: JsonOptions) => done(await check(runtime, options))),
  ];
  for (const one of commands) store.addCommand(withConfig(one).option('--json', 'print JSON'));
  store.addCommand(rekeyCommand(runtime, done));
  return store;
}

interface BackupOptions extends JsonOptions {
  readonly force?: boolean;
}

async function backUp(
  runtime: StorePorts,
  file: string,
  { force = false, json, ...options }: BackupOptions,
): Promise<number> {
  const done = await runtime.backUpStore(file, { ...options, replaces: force });
  if (!done.ok) return printRefusal(done.error);
  if (done.value.kind === 'database') return printCommands(done.value, json, 'pg_dump saves it:');
  if (json === true) printJson(done.value);
  else print(`Wrote ${quote(done.value.path)} (${done.value.bytes} bytes).`);
  printError(formatProse(LEFT_OUT));
  return EXIT.done;
}

const LEFT_OUT =
  'note: Not in it: the config file, and the encryption keys (encryption.key in the home, ASSAY_KEY_FILE or ASSAY_ENCRYPTION_KEY). Without them, sign-ins, stored secrets and registered servers cannot be read from the backup. Keep them elsewhere than the backup.';

async function restore(
  runtime: StorePorts,
  file: string,
  { json, ...options }: JsonOptions,
): Promise<number> {
  const done = await runtime.restoreStore(file, options);
  if (!done.ok) return printRefusal(done.error);
  if (done.value.kind === 'database')
    return printCommands(
      done.value,
      json,
      'Stop all replicas, restore the backup into a new database, and set ASSAY_DATABASE_URL to it:',
    );
  const { keptAs, path } = done.value;
  if (json === true) printJson(done.value);
  else {
    print(`Restored ${quote(path)}.`);
    if (keptAs !== undefined) print(`The store that was there is kept as ${quote(keptAs)}.`);
  }
  printError(formatProse(REVOKED));
  return EXIT.done;
}

const REVOKED =
  'note: Everything is as it was when the backup was made: tokens, trust and approvals that were withdrawn since then are valid again. Check them with `assay token list` and `assay activity`.';

/** Assay does not run them: they ask for the password, which it must not pass on in arguments. */
function printCommands(
  { commands }: Extract<StoreBackup, { kind: 'database' }>,
  json: boolean | undefined,
  what: string,
): number {
  if (json === true) printJson({ kind: 'database', commands });
  printError(formatProse(`The store is in PostgreSQL. ${what}`));
  for (const words of commands) printError(`  ${words.map(quoteShellArgument).join(' ')}`);
  printError(formatProse('They ask for the password, or take it from PGPASSWORD or ~/.pgpass.'));
  return EXIT.usage;
}

async function check(runtime: StorePorts, { json, ...options }: JsonOptions): Promise<number> {
  const done = await runtime.checkStore(options);
  if (!done.ok) return printRefusal(done.error);
  if (json === true) printJson(done.value);
  else for (const line of formatCheck(done.value)) print(formatProse(line));
  return isSound(done.value) ? EXIT.done : EXIT.failed;
}

function isSound({ state, keys, calls }: StoreCheck): boolean {
  return state === 'whole' && (keys?.unopened ?? 0) === 0 && (calls?.faultCount ?? 0) === 0;
}

const STATES: Readonly<Record<StoreCheck['state'], string>> = {
  absent: 'There is no store yet.',
  whole: 'It is intact.',
  earlier: 'A build of an earlier edition of Assay created it, and this one cannot read it.',
  newer: 'A newer Assay wrote it, and this one cannot read it.',
  at_fault: 'It cannot be used',
};

function formatCheck({ place, state, fault, migrations, keys, calls }: StoreCheck): readonly string[] {
  const lines = [`${quote(place)}: ${STATES[state]}${fault === undefined ? '' : `: ${fault}.`}`];
  if (migrations !== undefined) lines.push(`Migrations: ${migrations.join(', ')}.`);
  if (keys !== undefined) {
    const { sealed, unopened, unopenedRows } = keys;
    lines.push(
      `Encrypted: ${formatCount(sealed, 'row')}, the keys of this home decrypt ${sealed - unopened}.`,
    );
    for (const { kind, id } of unopenedRows) lines.push(`  cannot be decrypted: ${kind} ${quote(id)}`);
  }
  if (calls !== undefined) {
    const { entries, faultCount } = calls;
    lines.push(
      faultCount === 0
        ? `Recorded calls: ${entries}; nothing was changed, removed or inserted.`
        : `Recorded calls: ${entries}, with ${formatCount(faultCount, 'fault')}; \`assay activity verify\` lists them.`,
    );
  }
  return lines;
}
