import { Command, Option } from 'commander';
import { APPROVAL_SCOPES, type ApprovalScope } from '../../core/approval.ts';
import type { Approval } from '../../api/approval.ts';
import type { NoticeTest } from '../../api/notice.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import { err, type Result } from '@assay-mcp/kit/result';
import type { CodedProblem } from '../../api/problem.ts';
import { type Done, withHome } from './common-options.ts';
import type { Api, ApiRequest } from './api.ts';
import {
  print,
  printError,
  printJson,
  formatProse,
  quoteText,
  style,
} from '@assay-mcp/kit/platform/terminal/print';
import type { Runtime } from './runtime.ts';
import { apiPath, listAll, withApi } from './with-api.ts';

/** `assay approvals` with its subcommands. */
export function approvalsCommand(runtime: Runtime, done: Done): Command {
  const common = (command: Command): Command => withHome(command).option('--json', 'print JSON');
  const approvals = new Command('approvals').description('list and answer calls that wait for approval');
  approvals.addCommand(
    common(new Command('list'))
      .description('list calls that wait')
      .option('--all', 'also list those that were answered')
      .action(async (options: ListApprovalsOptions) => done(await listApprovals(runtime, options))),
    { isDefault: true },
  );
  approvals.addCommand(
    common(new Command('show'))
      .argument('<id>')
      .description('show a call with all its arguments')
      .action(async (id: string, options: ApprovalOptions) => done(await showOne(runtime, id, options))),
  );
  approvals.addCommand(
    common(new Command('approve'))
      .argument('<id>')
      .description('approve a call that waits')
      .addOption(
        new Option(
          '--scope <scope>',
          'this call, all of its session, all to its server in the session, or all until the tool changes',
        )
          .choices(APPROVAL_SCOPES)
          .default('once'),
      )
      .action(async (id: string, options: ApproveOptions) => done(await approve(runtime, id, options))),
  );
  approvals.addCommand(
    common(new Command('deny'))
      .argument('<id>')
      .description('deny a call that waits')
      .option('--reason <text>', 'why, for the model')
      .action(async (id: string, options: DenyOptions) => done(await deny(runtime, id, options))),
  );
  approvals.addCommand(
    common(new Command('revoke'))
      .argument('<id>')
      .description('take back an approval that was not used up')
      .action(async (id: string, options: ApprovalOptions) => done(await revoke(runtime, id, options))),
  );
  approvals.addCommand(
    common(new Command('notify'))
      .requiredOption('--test', 'send a test notice to each target that the settings name')
      .description('check that notices arrive')
      .action(async (options: ApprovalOptions) => done(await testNotices(runtime, options))),
  );
  return approvals;
}

interface ApprovalOptions {
  readonly home?: string;
  readonly json?: boolean;
}

interface ListApprovalsOptions extends ApprovalOptions {
  readonly all?: boolean;
}

interface ApproveOptions extends ApprovalOptions {
  readonly scope: ApprovalScope;
}

interface DenyOptions extends ApprovalOptions {
  readonly reason?: string;
}

/** `assay approvals notify --test`: by the running gateway, which sends the real ones. */
function testNotices(runtime: Runtime, options: ApprovalOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const tested = await api.send<NoticeTest>({ method: 'POST', path: '/notices/test' });
    if (!tested.ok) return tested;
    const { results } = tested.value;
    if (options.json === true) printJson(tested.value);
    for (const { setting, target, fault } of options.json === true ? [] : results)
      print(toPrintable(`${setting}: ${fault === undefined ? `sent to ${target}` : `failed: ${fault}`}`));
    if (results.length === 0) printError('No setting names a target: see `assay docs policy`.');
    const failed = results.find(({ fault }) => fault !== undefined);
    return failed === undefined ? tested : err({ code: 'NOTICE_UNSENT', setting: failed.setting });
  });
}

/** `assay approvals`: the waiting calls, with what a person needs to know to decide. */
export function listApprovals(runtime: Runtime, options: ListApprovalsOptions): Promise<number> {
  const { all = false, json } = options;
  return withApi(runtime, options, async (api) => {
    const query = all ? {} : { state: 'pending' };
    const found = await listAll<Approval>(api, '/approvals', { name: 'approvals', query });
    if (!found.ok) return found;
    const approvals = all ? found.value : found.value.filter(isShown);
    if (json === true) printJson({ approvals });
    else approvals.forEach(show);
    if (approvals.length === 0) printError(all ? 'There are no approvals.' : 'No call waits for approval.');
    return found;
  });
}

/** `assay approvals show ID`: one of them, with all arguments. */
function showOne(runtime: Runtime, id: string, options: ApprovalOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const found = await api.send<Approval>({ method: 'GET', path: apiPath`/approvals/${id}` });
    if (!found.ok) return found;
    if (options.json === true) printJson(found.value);
    else show(found.value);
    return found;
  });
}

/** `assay approvals approve ID` */
function approve(runtime: Runtime, id: string, options: ApproveOptions): Promise<number> {
  const { scope } = options;
  const request: ApiRequest = {
    ...{ method: 'POST', path: apiPath`/approvals/${id}/approve`, body: { scope } },
  };
  return answer(runtime, options, {
    send: (api) => api.send<Approval>(request),
    message: (name) => `Approved ${name}${EXTENTS[scope]}. A waiting call continues now.`,
  });
}

/** `assay approvals deny ID` */
function deny(runtime: Runtime, id: string, options: DenyOptions): Promise<number> {
  const { reason } = options;
  const body = reason === undefined ? {} : { reason };
  return answer(runtime, options, {
    send: (api) => api.send<Approval>({ method: 'POST', path: apiPath`/approvals/${id}/deny`, body }),
    message: (name) => `Denied the call of ${name}.`,
  });
}

/** `assay approvals revoke ID` */
export function revoke(runtime: Runtime, id: string, options: ApprovalOptions): Promise<number> {
  const path = apiPath`/approvals/${id}`;
  return answer(runtime, options, {
    send: async (api) => {
      const revoked = await api.send<undefined>({ method: 'DELETE', path });
      return revoked.ok ? api.send<Approval>({ method: 'GET', path }) : revoked;
    },
    message: (name) => `Revoked the approval of ${name}.`,
  });
}

const EXTENTS: Readonly<Record<ApprovalScope, string>> = {
  once: ' for this call',
  session: ' for this session',
  server: ' for this session and destination server',
  always: ' until its definition changes',
};

interface AnswerToApproval {
  readonly send: (api: Api) => Promise<Result<Approval, CodedProblem>>;
  readonly message: (quotedName: string) => string;
}

function answer(
  runtime: Runtime,
  options: ApprovalOptions,
  { send, message }: AnswerToApproval,
): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const done = await send(api);
    if (!done.ok) return done;
    if (options.json === true) printJson(done.value);
    else print(message(quoteText(done.value.namespacedName)));
    return done;
  });
}

/** Those stored as pending may have expired. */
function isShown({ state }: Approval): boolean {
  return state !== 'expired';
}

const UNREADABLE = 'unreadable: another program changed it in the store. It permits nothing.';

function show(approval: Approval): void {
  const { id, state, namespacedName, subject, client, why, createdAt } = approval;
  const { isShortened, isMasked } = approval;
  if (state === 'unreadable') return print(`${id}  ${UNREADABLE}`);
  const indented = (text: string): void => print(formatProse(toPrintable(text), { indent: '  ' }));
  const colour = state === 'pending' ? style.yellow : state === 'approved' ? style.green : style.dim;
  print(`${id}  ${colour(state)}  ${toPrintable(namespacedName)}`);
  indented(`by ${subject}${client === undefined ? '' : `, client ${client}`}, ${createdAt}`);
  const incomplete = [
    ...(isShortened ? [`shortened; assay approvals show ${id}`] : []),
    ...(isMasked ? ['secrets masked'] : []),
  ];
  const note = incomplete.length === 0 ? '' : ` (${incomplete.join('; ')})`;
  indented(`arguments${note}: ${approval.arguments}`);
  indented(`why: ${why.join(' ')}`);
  if (approval.answeredBy !== undefined)
    indented(
      `answered by ${approval.answeredBy}${approval.scope === undefined ? '' : `: ${approval.scope}`}${approval.reason === undefined ? '' : `: ${approval.reason}`}`,
    );
  else if (state === 'pending') {
    indented(`next: assay approvals approve ${id}   or deny ${id}`);
    if (approval.scopes.includes('server'))
      indented(
        `or for this session and destination server ${quoteText(approval.server)}: assay approvals approve ${id} --scope server`,
      );
  }
}
