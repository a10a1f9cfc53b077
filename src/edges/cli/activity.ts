import type { ChainReport } from '../../core/activity/call-chain.ts';
import type { CallFacts } from '../../core/activity/call-entry.ts';
import { chainFaultText } from '../../core/activity/chain-text.ts';
import { counted } from '../../core/counted.ts';
import { EXIT } from '../../core/errors.ts';
import { HINTS } from '../../core/hints/hint.ts';
import type { AskedPer } from '../../core/policy/policy.ts';
import { printable } from '../../core/printable.ts';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '../../core/result.ts';
import type { AuditEntry } from '../../gateway/ports/records.ts';
import type { Store } from '../../gateway/ports/store.ts';
import {
  callById,
  type CallView,
  exportedCalls,
  recentCalls,
  verifyCalls,
} from '../../gateway/services/activity/call-history.ts';
import { print, printError, printJson, proseOf, style, tableOf } from './output.ts';
import type { Runtime } from './runtime.ts';
import { type JsonOptions, withOpened } from './with-opened.ts';

export interface ExportCallsOptions extends JsonOptions, CallFacts {}

export interface ListActivityOptions extends ExportCallsOptions {
  readonly changes?: boolean;
  readonly limit: number;
}

/** `assay activity`: the latest calls, or changes. */
export function listActivity(runtime: Runtime, options: ListActivityOptions): Promise<number> {
  return withStore(runtime, options, (store) =>
    options.changes === true ? listChanges(store, options) : listCalls(store, options),
  );
}

async function listCalls(store: Store, options: ListActivityOptions): Promise<Result<unknown, Refusal>> {
  const found = await recentCalls(store, { ...factsIn(options), limit: options.limit });
  if (!found.ok) return found;
  const { calls } = found.value;
  if (options.json === true) printJson({ calls });
  else if (calls.length === 0) printError('No such calls are recorded.');
  else print(tableOf(['ID', 'TIME', 'WHO', 'TOOL', 'DECISION', 'OUTCOME', 'MS'], calls.map(callRow)));
  return found;
}

const UNREADABLE = 'changed, and cannot be read';

function callRow(call: CallView): readonly string[] {
  if (call.kind === 'unreadable') return [String(call.id), '', '', UNREADABLE, '', '', ''];
  const [id, at] = [String(call.id), timeOf(call.at)];
  if (call.kind === 'dropped') return [id, at, '', `${counted(call.count, 'call')} not recorded`, '', '', ''];
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
function whoOf({ subject, client }: Extract<CallView, { kind: 'call' }>): string {
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
  store: Store,
  { json, limit }: ListActivityOptions,
): Promise<Result<unknown, Refusal>> {
  const found = await store.auditEvents({ limit });
  if (!found.ok) return found;
  if (json === true) printJson({ changes: found.value.map(changeJson) });
  else if (found.value.length === 0) printError('No changes are recorded.');
  else print(tableOf(['ID', 'TIME', 'WHO', 'ACTION', 'TARGET'], found.value.map(changeRow)));
  return found;
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString();
}

function changeJson(entry: AuditEntry): unknown {
  if (entry.kind === 'unreadable') return entry;
  const { atMs, ...event } = entry;
  return { at: isoOf(atMs), ...event };
}

function changeRow(entry: AuditEntry): readonly string[] {
  if (entry.kind === 'unreadable') return [String(entry.id), '', '', UNREADABLE, entry.reason];
  const { id, atMs, subject, action, target } = entry;
  return [String(id), timeOf(isoOf(atMs)), subject, action, target.name];
}

/** `assay activity show ID`: everything recorded about a call. */
export function showCall(runtime: Runtime, id: number, options: JsonOptions): Promise<number> {
  return withStore(runtime, options, async (store) => {
    const found = await callById(store, id);
    if (!found.ok) return found;
    if (options.json === true) printJson(found.value);
    else show(found.value);
    return found;
  });
}

function show(call: CallView): void {
  if (call.kind === 'unreadable') return print(`${call.id}  ${UNREADABLE}`);
  const { id, at, chain } = call;
  if (call.kind === 'dropped') {
    print(`${id}  ${at}  ${counted(call.count, 'call')} since ${call.since} could not be recorded`);
    return;
  }
  const { tool, client, session, toolset, labels, decision, approval, hints, arguments: args } = call;
  const name = tool.namespacedName ?? tool.publicName;
  print(`${printable(name)}: ${printable(call.outcome)} after ${call.durationMs} ms`);
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
    ['arguments', args && `${args.text}${args.isShortened ? ` (shortened; ${args.bytes} bytes)` : ''}`],
    ['hash', chain.hash],
    ['chain', `entry ${chain.seq} of ${chain.id}`],
  ].flatMap(([key = '', value]) => (value === undefined || value === '' ? [] : [[key, value]]));
  print(tableOf(['', ''], facts).replace(/^.*\n/, ''));
  if (decision !== undefined) {
    print(`\ndecision: ${decision.kind}`);
    if (decision.kind === 'ask' && call.isAsked === false)
      print(
        proseOf(
          `Assay did not ask ("approvals" is "client"). It would have asked ${printable(questionOf(decision.per ?? 'call', tool.server))}:`,
          {
            indent: '  ',
          },
        ),
      );
    for (const { text } of decision.reasons) print(proseOf(printable(text), { indent: '  ' }));
  }
  if (hints === undefined) return;
  const rows = HINTS.map((hint) => [hint, String(hints[hint].value), hints[hint].reason]);
  print(`\n${tableOf(['HINT', 'VALUE', 'DECIDED BY'], rows)}`);
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
export function exportCalls(runtime: Runtime, options: ExportCallsOptions): Promise<number> {
  return withStore(runtime, options, async (store) => {
    for await (const lines of exportedCalls(store, factsIn(options))) {
      if (!lines.ok) return lines;
      if (!process.stdout.write(lines.value))
        await new Promise((resolve) => process.stdout.once('drain', resolve));
    }
    return ok(undefined);
  });
}

/** `assay activity verify`: whether the hash chains are intact. */
export async function verifyActivity(runtime: Runtime, options: JsonOptions): Promise<number> {
  let faults = 0;
  const exit = await withStore(runtime, options, async (store) => {
    const verified = await verifyCalls(store);
    if (!verified.ok) return verified;
    faults = verified.value.faultCount;
    if (options.json === true) printJson(verified.value);
    else showReport(verified.value);
    return verified;
  });
  return exit === EXIT.done && faults > 0 ? EXIT.failed : exit;
}

function showReport({ entries, chains, dropped, faults, faultCount }: ChainReport): void {
  const entriesText = `${entries} ${entries === 1 ? 'entry' : 'entries'}`;
  const checked = `Checked ${entriesText} of ${chains} ${chains === 1 ? 'process' : 'processes'}`;
  print(
    `${checked}: ${faultCount === 0 ? 'nothing was changed, removed or inserted.' : `${counted(faultCount, 'fault')}.`}`,
  );
  for (const fault of faults) print(`  ${chainFaultText(fault)}`);
  if (faultCount > faults.length) print(`  … and ${faultCount - faults.length} more`);
  if (dropped > 0) print(`${counted(dropped, 'call')} could not be recorded at the time.`);
}

function factsIn({ server, tool, subject, decision, outcome }: CallFacts): CallFacts {
  return { server, tool, subject, decision, outcome };
}

function withStore(
  runtime: Runtime,
  options: JsonOptions,
  work: (store: Store) => Promise<Result<unknown, Refusal>>,
): Promise<number> {
  return withOpened(runtime.openStore(options), ({ store }) => work(store));
}
