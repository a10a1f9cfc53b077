import { Command } from 'commander';
import { EXIT } from '../../core/errors.ts';
import type {
  EntryDifference,
  ImportOutcome,
  FoundServer,
  ImportReport,
  MoveReport,
} from '../../core/client-configs.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import { toArgumentRefusal } from '../../core/refusal.ts';
import { ok } from '@assay-mcp/kit/result';
import { findToolsetFault } from '../../gateway/services/toolsets/toolsets.ts';
import type { AppOptions } from '../../core/command-options.ts';
import { type Done, withConfig } from './common-options.ts';
import { readBundleFile, importBundle, type ImportBundleOptions } from './import-bundle.ts';
import {
  listDownServers,
  formatDownServers,
  equipImported,
  type Equipped,
  formatImportedToolset,
} from './imported-toolset.ts';
import {
  print,
  printError,
  printJson,
  formatProse,
  style,
  formatTable,
} from '@assay-mcp/kit/platform/terminal/print';
import { askSecrets, storeImportedSecrets } from './imported-secrets.ts';
import { printFailure, printRefusal } from './output.ts';
import type { ClientConfigPorts, KnownClient, Runtime } from './runtime.ts';

/** `assay import` */
export function importCommand(runtime: Runtime, done: Done): Command {
  const clientIds = runtime.clients.map(({ id }) => id);
  return withConfig(
    new Command('import')
      .argument(
        '<client|file>',
        `${clientIds.join(', ')}, a config file, a bundle written by \`assay export\`, or config.json of HyperTool`,
      )
      .description('import servers from an MCP client, or a bundle written by `assay export`')
      .option('--project <folder>', 'also import the servers of this project')
      .option('--overwrite', 'replace existing entries with the same name')
      .option('--toolset <name>', 'name of the new toolset (default: name of the client)')
      .option('--no-equip', 'only copy the servers: do not start them or create a toolset')
      .option('--move', 'remove the imported entries from the client’s file; `connect --undo` restores them')
      .option('--dry-run', 'show what would happen, without writing anything')
      .option('--apply', 'for a bundle: apply the plan')
      .option('--keep', 'for a bundle: keep existing entries that differ')
      .option(
        '--passphrase-file <file>',
        'for a bundle: file with the passphrase for its secrets (or ASSAY_PASSPHRASE)',
      )
      .option('--json', 'print JSON')
      .action(async (from: string, options: ImportOptions & ImportBundleOptions) => {
        const bundle = clientIds.includes(from) ? undefined : await readBundleFile(runtime, from);
        if (bundle === undefined) done(await importFrom(runtime, from, options));
        else {
          const { dryRun = false, apply = false } = options;
          done(await importBundle(runtime, bundle, { ...options, apply: apply && !dryRun }));
        }
      }),
  );
}

interface ImportOptions extends AppOptions {
  readonly project?: string;
  readonly overwrite?: boolean;
  readonly dryRun?: boolean;
  /** False with `--no-equip`: the servers are copied, but neither started nor put into a toolset. */
  readonly equip?: boolean;
  /** Name of the toolset; defaults to the client's. */
  readonly toolset?: string;
  readonly json?: boolean;
  /** Remove the imported entries from the client's own file. */
  readonly move?: boolean;
  /** Whether it runs as part of `assay setup`, which continues by itself. */
  readonly isStep?: boolean;
  /** Receives the names of the servers that could not be started. */
  readonly onDown?: (names: readonly string[]) => void;
}

/**
 * `assay import`: the other client's servers and the result for each on stdout; progress and follow-up steps on stderr.
 */
export async function importFrom(
  runtime: ClientConfigPorts,
  from: string,
  options: ImportOptions,
): Promise<number> {
  const { project, overwrite = false, dryRun = false, json = false, move = false } = options;
  const client = runtime.clients.find(({ id }) => id === from);
  const name = options.toolset ?? client?.id ?? 'imported';
  const wrong =
    findToolsetFault({ name }, '--toolset') ??
    toArgumentRefusal('--move', move && client === undefined ? 'it takes the name of a client' : undefined);
  if (wrong !== undefined) return printRefusal(wrong);
  // A running gateway starts the servers as soon as the file is written.
  const planned = await runtime.importServers({ from, project, overwrite, dryRun: true }, options);
  if (!planned.ok) return printRefusal(planned.error);
  for (const line of [...differenceLines(planned.value), ...passedLines(planned.value)])
    printError(toPrintable(line));
  const secrets = dryRun || json ? ok([]) : await askSecrets(runtime, planned.value, options);
  if (!secrets.ok) return printFailure(secrets.error);
  const asSecrets = new Set(secrets.value.map((secret) => secret.name));
  const done = await runtime.importServers({ from, project, overwrite, dryRun, asSecrets }, options);
  if (!done.ok) return printRefusal(done.error);
  const stored = await storeImportedSecrets(runtime, secrets.value, options);
  if (!stored.ok) return printFailure(stored.error);
  const report = done.value;
  if (!json) printImport(report);
  const servers = [...new Set(report.servers.filter(isUsable).map(({ importedAs }) => importedAs))];
  const isEquipping = options.equip !== false && !dryRun && servers.length > 0;
  const equipped = isEquipping
    ? await equipImported(runtime, { name, servers, isSilent: json }, options)
    : ok(undefined);
  // The entries leave the client only after everything else has succeeded.
  const isMoving = move && !dryRun && equipped.ok;
  const except = equipped.ok ? listDownServers(equipped.value) : [];
  options.onDown?.(except);
  const moved = isMoving
    ? await runtime.moveServers({ client: from, project, except }, options)
    : ok(undefined);
  if (json) {
    const toolset = equipped.ok ? equipped.value : undefined;
    const files = moved.ok ? moved.value?.files : undefined;
    printJson({
      ...report,
      ...(toolset && { started: toolset.servers, toolset: { ...toolset.toolset, tools: toolset.tools } }),
      ...(files && { moved: files }),
    });
  }
  if (!equipped.ok) return printRefusal(equipped.error);
  if (!moved.ok) return printRefusal(moved.error);
  if (!json) printOutcome({ ...runtime, client, options, equipped: equipped.value, moved: moved.value });
  return EXIT.done;
}

interface Outcome extends Pick<ClientConfigPorts, 'programName'> {
  readonly client: KnownClient | undefined;
  readonly options: ImportOptions;
  readonly equipped: Equipped | undefined;
  readonly moved: MoveReport | undefined;
}

/** Prints how the import changed what clients see and have, and the next command. */
function printOutcome({ client, programName, options, equipped, moved }: Outcome): void {
  const isTerminal = process.stderr.isTTY;
  const lines = equipped && formatImportedToolset(equipped, { client, programName });
  if (lines !== undefined) print(`\n${formatProse(lines.done)}`);
  const { project } = options;
  if (moved !== undefined && client !== undefined)
    for (const line of formatMoves(moved, { id: client.id, project, programName }))
      print(formatProse(toPrintable(line)));
  const isAfterwards = options.dryRun === true && options.move === true;
  if (isAfterwards) printError('note: --move would then take these entries out of the file.');
  for (const line of equipped === undefined ? [] : formatDownServers(equipped, programName))
    printError(formatProse(toPrintable(line), { isTerminal }));
  if (lines !== undefined && options.isStep !== true) printError(`next: ${lines.next}`);
}

interface MovedContext extends Pick<ClientConfigPorts, 'programName'>, Pick<KnownClient, 'id'> {
  readonly project?: string | undefined;
}

/** Says what was removed from the client's files, and how to restore it. Also for `assay setup`. */
export function formatMoves(
  { client, files }: MoveReport,
  { id, project, programName }: MovedContext,
): readonly string[] {
  if (files.length === 0) return [`${client} has no entries of servers that Assay has too.`];
  const undo = `${programName} connect ${id}${project === undefined ? '' : ` --project ${project}`} --undo`;
  return files.map(
    ({ path, names }) => `Took ${names.join(', ')} out of ${path}; \`${undo}\` restores the file.`,
  );
}

/** Whether Assay runs a server of this name after the import. */
function isUsable({ outcome, isDisabled }: FoundServer): boolean {
  return outcome !== 'skipped' && !isDisabled;
}

/** Which variables each server gets, so that nobody passes on a secret without seeing to whom. */
function passedLines({ servers }: ImportReport): readonly string[] {
  return servers
    .filter(({ outcome }) => outcome === 'copied' || outcome === 'replaced')
    .flatMap(({ importedAs, kind, what, passes }) => {
      const verb = kind === 'stdio' ? 'passes' : 'sends';
      return passes.map((variable) => `note: ${importedAs} ${verb} $${variable} to ${what}`);
    });
}

/** Which members make an entry another server than Assay's of the same name. */
function differenceLines({ servers }: ImportReport): readonly string[] {
  return servers
    .filter(({ differs, outcome }) => differs.length > 0 && (outcome === 'copied' || outcome === 'replaced'))
    .map(({ name, importedAs, outcome, differs }) => {
      const what = differs.map(formatDifference).join('; ');
      const as =
        outcome === 'replaced' ? `replaces ${importedAs}` : `becomes ${importedAs} (--overwrite replaces)`;
      return `note: ${name} is not the ${name} that Assay has, and ${as}: ${what}`;
    });
}

function formatDifference({ member, own, imported }: EntryDifference): string {
  if (own === undefined || imported === undefined) return `${member} differs`;
  return `${member} is ${imported ?? 'absent'}, not ${own ?? 'absent'}`;
}

function printImport(report: ImportReport): void {
  print(formatTable(['NAME', 'KIND', 'RESULT', 'COMMAND OR ORIGIN'], report.servers.map(row)));
  print(`\n${closing(report)}`);
  for (const line of remarks(report)) printError(toPrintable(line));
}

function row(server: FoundServer): readonly string[] {
  const { importedAs, kind, outcome, isDisabled, what } = server;
  return [
    importedAs,
    kind,
    isDisabled && outcome !== 'skipped' ? `${outcome}, disabled` : COLOURED[outcome](outcome),
    what,
  ];
}

const COLOURED: Readonly<Record<ImportOutcome, (text: string) => string>> = {
  copied: (text) => style.green(text),
  replaced: (text) => style.green(text),
  same: (text) => text,
  kept: (text) => style.yellow(text),
  skipped: (text) => style.red(text),
};

function closing({ sources, target, backup, isDryRun, servers }: ImportReport): string {
  const count = servers.filter(({ outcome }) => outcome === 'copied' || outcome === 'replaced').length;
  const from = toPrintable(sources.join(', '));
  const to = toPrintable(target);
  if (count === 0) return `Nothing to copy from ${from} to ${to}.`;
  const servings = count === 1 ? '1 server' : `${count} servers`;
  if (isDryRun) return `Dry run: ${servings} would be copied from ${from} to ${to}.`;
  const kept = backup === undefined ? '' : `\nBackup of the previous file: ${toPrintable(backup)}`;
  return `Copied ${servings} from ${from} to ${to}.${kept}`;
}

function remarks({ servers, elsewhere }: ImportReport): readonly string[] {
  const lines = servers.flatMap((server) => {
    const { name, importedAs, outcome, reason, file, line, column, leftOut, variables } = server;
    return [
      ...(reason === undefined ? [] : [`${outcome} ${name}: ${reason} (${file}:${line}:${column})`]),
      ...(leftOut.length === 0
        ? []
        : [`note: ${importedAs}: left out, as Assay has no use for it: ${leftOut.join(', ')}`]),
      ...variables.map(
        (variable) =>
          `to do: ${importedAs}: set ${variable.name}${variable.about === undefined ? '' : ` (${variable.about})`}`,
      ),
    ];
  });
  return [
    ...lines,
    ...elsewhere.map((folder) => `note: there are more for one project: --project ${JSON.stringify(folder)}`),
  ];
}
