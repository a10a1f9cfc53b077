import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { AuditEntry } from '../../api/audit-event.ts';
import type { Call, RecordedCall } from '../../api/call.ts';
import type { ChainReport } from '../../core/activity/call-chain.ts';
import type { CallFacts } from '../../core/activity/call-entry.ts';
import { ExportCheck, type ExportFault } from '../../core/activity/call-export.ts';
import { formatChainFault } from '../../core/activity/chain-text.ts';
import { formatCount } from '@assay-mcp/kit/counted';
import { EXIT, getExitCode } from '../../core/errors.ts';
import { HINTS } from '@assay-mcp/kit/hint';
import type { AskedPer } from '../../core/policy/policy.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import type { Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../core/sentences.ts';
import type { CodedProblem } from '../../api/problem.ts';
import { type Done, withHome, type JsonOptions } from './common-options.ts';
import type { Api, ApiRequest } from './api.ts';
import {
  print,
  printError,
  printJson,
  formatProse,
  style,
  formatTable,
} from '@assay-mcp/kit/platform/terminal/print';
import type { Runtime } from './runtime.ts';
import { apiPath, listAll, withApi } from './with-api.ts';

/** `assay activity` with its subcommands; lists calls by default. */
export function activityCommand(runtime: Runtime, done: Done): Command {
  const activity = new Command('activity').description('what was called and changed, by whom');
  const list = filtered(new Command('list'))
    .description('list recorded calls with their decisions, newest first')
    .option('--changes', 'list what operators and models changed instead')
    .option('--limit <count>', 'number of lines', numberUpTo(10_000), 20)
    .action(async (options: ListActivityOptions) => done(await listActivity(runtime, options)));
  const show = new Command('show')
    .addArgument(new Argument('<id>', 'id of a recorded call').argParser(numberUpTo(Number.MAX_SAFE_INTEGER)))
    .description('show everything that is recorded of a call')
    .action(async (id: number, options: JsonOptions) => done(await showCall(runtime, id, options)));
  const write = filtered(new Command('export'))
    .description('print recorded calls as JSON lines, oldest first')
    .action(async (options: ExportCallsOptions) => done(await exportCalls(runtime, options)));
  const verify = new Command('verify')
    .description('check that no recorded call was changed, removed or inserted; exit code 1 if one was')
    .argument('[file]', 'an export to check instead of the record')
    .action(async (file: string | undefined, options: JsonOptions) =>
      done(await verifyActivity(runtime, file, options)),
    );
  activity.addCommand(finished(list), { isDefault: true });
  for (const command of [show, write, verify]) activity.addCommand(finished(command));
  return activity;
}

function filtered(command: Command): Command {
  return command
    .option('--server <name>', 'only calls of tools of this server')
    .option('--tool <name>', 'only calls of this tool, by its namespaced name')
    .option('--subject <name>', 'only calls by this token')
    .addOption(
      new Option('--decision <decision>', 'only calls decided on this way').choices([
        'allow',
        'ask',
        'refuse',
      ]),
    )
    .option('--outcome <outcome>', 'only calls with this outcome, such as ok or CALL_REFUSED');
}

function finished(command: Command): Command {
  return withHome(command).option('--json', 'print JSON');
}

function numberUpTo(max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d{1,16}$/.test(text) || value < 1 || value > max)
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
    return value;
  };
}

interface ExportCallsOptions extends JsonOptions, CallFacts {}

interface ListActivityOptions extends ExportCallsOptions {
  readonly changes?: boolean;
  readonly limit: number;
}

/** `assay activity`: the latest calls, or changes. */
function listActivity(runtime: Runtime, options: ListActivityOptions): Promise<number> {
  return withApi(runtime, options, (api) =>
    options.changes === true ? listChanges(api, options) : listCalls(api, options),
  );
}

async function listCalls(api: Api, options: ListActivityOptions): Promise<Result<unknown, CodedProblem>> {
  const { json, limit } = options;
  const asked = { name: 'calls', query: factsIn(options), limit };
  const calls = await listAll<Call>(api, '/activity/calls', asked);
  if (!calls.ok) return calls;
  if (json === true) printJson({ calls: calls.value });
  else if (calls.value.length === 0) printError('No such calls are recorded.');
  else
    print(formatTable(['ID', 'TIME', 'WHO', 'TOOL', 'DECISION', 'OUTCOME', 'MS'], calls.value.map(callRow)));
  return calls;
}

const UNREADABLE = 'changed, and cannot be read';

function callRow(call: Call): readonly string[] {
  if (call.kind === 'unreadable') return [String(call.id), '', '', UNREADABLE, '', '', ''];
  const [id, at] = [String(call.id), timeOf(call.at)];
  if (call.kind === 'dropped')
    return [id, at, '', `${formatCount(call.count, 'call')} not recorded`, '', '', ''];
  const { tool, decision, outcome, durationMs } = call;
  const name = tool.namespacedName ?? tool.publicName;
  const colour = outcome === 'ok' ? style.green : style.red;
  return [
    ...[id, at, whoOf(call), name, decision?.kind ?? ''],
    // Only lower-case outcomes get a colour; refusal codes do not.
    /^[a-z]+$/.test(outcome) ? colour(outcome) : outcome,
    String(Math.round(durationMs)),
  ];
}

/** The token or, for calls without one, the client. */
function whoOf({ subject, client }: Extract<Call, { kind: 'call' }>): string {
  return subject === 'local' ? (client?.name ?? subject) : subject;
}

/** Local time: month, day and time of day. */
function timeOf(at: string): string {
  const date = new Date(at);
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = `${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}

async function listChanges(
  api: Api,
  { json, limit }: ListActivityOptions,
): Promise<Result<unknown, CodedProblem>> {
  const changes = await listAll<AuditEntry>(api, '/activity', { name: 'activity', limit });
  if (!changes.ok) return changes;
  if (json === true) printJson({ activity: changes.value });
  else if (changes.value.length === 0) printError('No changes are recorded.');
  else print(formatTable(['ID', 'TIME', 'WHO', 'ACTION', 'TARGET'], changes.value.map(changeRow)));
  return changes;
}

function changeRow(change: AuditEntry): readonly string[] {
  if ('reason' in change) return [String(change.id), '', '', UNREADABLE, change.reason];
  const { id, at, subject, action, target } = change;
  return [String(id), timeOf(at), subject, action, target.name];
}

/** `assay activity show ID`: everything recorded about a call. */
function showCall(runtime: Runtime, id: number, options: JsonOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const found = await api.send<Call>({ method: 'GET', path: apiPath`/activity/calls/${String(id)}` });
    if (!found.ok) return found;
    if (options.json === true) printJson(found.value);
    else show(found.value);
    return found;
  });
}

function show(call: Call): void {
  if (call.kind === 'unreadable') return print(`${call.id}  ${UNREADABLE}`);
  const { id, at, batch } = call;
  if (call.kind === 'dropped') {
    print(`${id}  ${at}  ${formatCount(call.count, 'call')} since ${call.since} could not be recorded`);
    return;
  }
  const { tool, client, session, toolset, labels, decision, approval, denial, hints, arguments: args } = call;
  const name = tool.namespacedName ?? tool.publicName;
  print(`${toPrintable(name)}: ${toPrintable(call.outcome)} after ${call.durationMs} ms`);
  const facts = [
    ['id', String(id)],
    ['time', at],
    ['subject', call.subject],
    ['client', [client?.name, client?.version].filter(Boolean).join(' ')],
    ['session', session],
    ['endpoint', call.endpoint],
    ['toolset', toolset],
    ['labels', labels?.join(', ')],
    ['called as', tool.publicName],
    ['digest', tool.digest],
    ['confirm', tool.confirm],
    ['approval', approval && `${approval.id} by ${approval.by} (${approval.scope})`],
    ['denied', denial && formatDenial(denial)],
    ['arguments', args && `${args.text}${args.isShortened ? ` (shortened; ${args.bytes} bytes)` : ''}`],
    ['batch', `${batch.number} of chain ${batch.chain}`],
    ['hash', batch.hash],
  ].flatMap(([key = '', value]) => (value === undefined || value === '' ? [] : [[key, value]]));
  print(formatTable(['', ''], facts).replace(/^.*\n/, ''));
  if (decision !== undefined) {
    print(`\ndecision: ${decision.kind}`);
    if (decision.kind === 'ask' && call.isAsked === false)
      print(
        formatProse(
          `Assay did not ask ("approvals" is "client"). It would have asked ${toPrintable(questionOf(decision.per ?? 'call', tool.server))}:`,
          {
            indent: '  ',
          },
        ),
      );
    for (const { text } of decision.reasons) print(formatProse(toPrintable(text), { indent: '  ' }));
  }
  if (hints === undefined) return;
  const rows = HINTS.map((hint) => [hint, String(hints[hint].value), hints[hint].reason]);
  print(`\n${formatTable(['HINT', 'VALUE', 'DECIDED BY'], rows)}`);
}

function formatDenial({ by, id, reason }: NonNullable<RecordedCall['denial']>): string {
  const where = id === undefined ? 'when its client asked' : `in the inbox (${id})`;
  return `by ${by}, ${where}${reason === undefined ? '' : `: ${reason}`}`;
}

/** Which question it would have been. */
function questionOf(per: AskedPer, server = ''): string {
  switch (per) {
    case 'call':
      return 'about this call';
    case 'session':
      return 'once for this session and tool';
    case 'server':
      return `once for this session and destination server ${JSON.stringify(server)}`;
  }
}

/** `assay activity export`: JSON lines on stdout. */
function exportCalls(runtime: Runtime, options: ExportCallsOptions): Promise<number> {
  const request: ApiRequest = {
    ...{ method: 'GET', path: '/activity/calls/export', query: factsIn(options) },
  };
  return withApi(runtime, options, (api) =>
    api.stream(request, async (text) => {
      if (!process.stdout.write(text)) await new Promise((resolve) => process.stdout.once('drain', resolve));
    }),
  );
}

/** `assay activity verify`: whether the hash chains are intact, in the store or in an export. */
async function verifyActivity(
  runtime: Runtime,
  file: string | undefined,
  options: JsonOptions,
): Promise<number> {
  if (file !== undefined) return verifyExport(runtime, file, options);
  let faults = 0;
  const exit = await withApi(runtime, options, async (api) => {
    const path = '/activity/calls/verification';
    const verified = await api.send<ChainReport>({ method: 'GET', path });
    if (!verified.ok) return verified;
    faults = verified.value.faultCount;
    showReport(verified.value, options);
    return verified;
  });
  return exit === EXIT.done && faults > 0 ? EXIT.failed : exit;
}

async function verifyExport(runtime: Runtime, file: string, options: JsonOptions): Promise<number> {
  const check = new ExportCheck();
  let fault: ExportFault | undefined;
  const read = await runtime.readLines(file, (line) => {
    const added = check.add(line);
    if (!added.ok) fault = added.error;
    return added.ok;
  });
  if (!read.ok) {
    printError(formatRefusal(read.error));
    return getExitCode(read.error);
  }
  if (fault !== undefined) {
    printError(`${toPrintable(file)}, line ${fault.line}: ${PROBLEMS[fault.problem]}`);
    return EXIT.usage;
  }
  const report = check.end();
  showReport(report, options);
  return report.faultCount > 0 ? EXIT.failed : EXIT.done;
}

const PROBLEMS: Readonly<Record<ExportFault['problem'], string>> = {
  invalid: 'it is not a line that `assay activity export` wrote.',
  no_batch:
    'the line of its batch is missing. Filtered exports have none: run `assay activity export` without a filter.',
};

function showReport(report: ChainReport, { json }: JsonOptions): void {
  if (json === true) return printJson(report);
  const { entries, batches, chains, dropped, faults, faultCount } = report;
  const entriesText = `${entries} ${entries === 1 ? 'entry' : 'entries'}`;
  const batchesText = `${batches} ${batches === 1 ? 'batch' : 'batches'}`;
  const checked = `Checked ${entriesText} in ${batchesText} of ${chains} ${chains === 1 ? 'process' : 'processes'}`;
  print(
    `${checked}: ${faultCount === 0 ? 'nothing was changed, removed or inserted.' : `${formatCount(faultCount, 'fault')}.`}`,
  );
  for (const fault of faults) print(`  ${formatChainFault(fault)}`);
  if (faultCount > faults.length) print(`  … and ${faultCount - faults.length} more`);
  if (dropped > 0) print(`${formatCount(dropped, 'call')} could not be recorded at the time.`);
}

/** As query parameters. */
function factsIn({ server, tool, subject, decision, outcome }: CallFacts): Readonly<Record<string, string>> {
  return {
    ...(server !== undefined && { server }),
    ...(tool !== undefined && { tool }),
    ...(subject !== undefined && { subject }),
    ...(decision !== undefined && { decision }),
    ...(outcome !== undefined && { outcome }),
  };
}
