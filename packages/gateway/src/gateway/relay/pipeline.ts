import { findNameBudget } from '../../core/name-budget.ts';
import { isKnownReadOnly } from '../../core/policy/cacheable.ts';
import type { Decision } from '../../core/policy/policy.ts';
import { maskRefusal } from '../../core/refusal-cause.ts';
import type { Refusal } from '../../core/refusal.ts';
import { ok } from '@assay-mcp/kit/result';
import { findParameterFault } from '@assay-mcp/protocol/parameter-values';
import { findCursor } from '@assay-mcp/protocol/message';
import { findMember, readJsonString } from '@assay-mcp/protocol/spans';
import { findNameMember } from '@assay-mcp/protocol/translate';
import type { RelayDeps } from '../catalog/call-deps.ts';
import { type ForwardedCall, type ConfigurationTool, isHidden } from '../catalog/visible-listing.ts';
import { LIST_KINDS, LISTS } from '../catalog/inventory.ts';
import { getClientInfo } from '../catalog/link-choice.ts';
import type { Entry } from '../catalog/listing.ts';
import type { Server } from '../catalog/server.ts';
import { findStoredResultId } from '../catalog/stored-results.ts';
import type { ListKind } from '../ports/link.ts';
import { obtainApproval } from './approval.ts';
import {
  type Answer,
  type Call,
  findSendRefusal,
  findStopRefusal,
  toRefusedAnswer,
  type Relay,
  type Target,
} from './call.ts';
import type { ClientSubscriptions } from './client-subscriptions.ts';
import { buildStoredReply, findStoredEntry, limitResult, toReadRefusal } from './large-result.ts';
import {
  decideCall,
  getPolicy,
  labelAnswer,
  labelBeforeDelivery,
  learnLabels,
  refuseByPolicy,
} from './labels.ts';
import { startCallRecord, beginRecord, recordRefusal } from './record.ts';
import { send } from './send.ts';
import { concernsTasks, relayTasks } from './task-relay.ts';
import { answerTask, TASK_METHODS } from './task-requests.ts';

type Handler = (call: Call) => Promise<Answer>;

/** The call pipeline: it resolves a call, decides on it, asks for approval, sends and records it. */
export function createRelay(deps: RelayDeps): Relay {
  return { deps, answer };
}

async function answer(call: Call): Promise<Answer> {
  const handler = HANDLERS.get(call.method);
  return handler?.(call) ?? toRefusedAnswer({ code: 'METHOD_UNKNOWN', method: call.method });
}

const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ...LIST_KINDS.map((kind): [string, Handler] => [LISTS[kind].method, (call) => list(call, kind)]),
  ['tools/call', callTool],
  ['prompts/get', (call) => relayNamed(call, 'prompt')],
  ['resources/read', readResource],
  ['resources/subscribe', subscribe],
  ['resources/unsubscribe', unsubscribe],
  ['completion/complete', complete],
  ...TASK_METHODS.map((method): [string, Handler] => [method, (call) => answerTask(call, execute)]),
]);

async function list(call: Call, kind: ListKind): Promise<Answer> {
  const { view, message, era } = call;
  const member = findCursor(message);
  const cursor = readJsonString(message.bytes, member);
  if (member !== undefined && cursor === undefined)
    return invalidParams('params.cursor', 'it must be a string');
  const page = await view.page(kind, era, {
    cursor,
    maxNameLength: findNameBudget(getClientInfo(call, message)),
  });
  // Modern clients get an error for undeclared capabilities (2026-07-28, server/discover); older ones get an empty
  // list.
  if (era === 'modern' && !view.has(LISTS[kind].capability))
    return toRefusedAnswer({ code: 'METHOD_UNKNOWN', method: message.method });
  return page.ok ? { kind: 'own', result: page.value } : toRefusedAnswer(page.error);
}

function callTool(call: Call): Promise<Answer> {
  const name = readJsonString(call.message.bytes, findNameMember(call.message));
  call.configurationTool = name === undefined ? undefined : call.view.configurationTool(name);
  return call.configurationTool === undefined ? relayNamed(call, 'tool') : answerConfigurationTool(call);
}

/** Resolves a tool or prompt by its public name and relays the call. */
async function relayNamed(call: Call, kind: 'tool' | 'prompt'): Promise<Answer> {
  const { message, view, cancellation, caller } = call;
  const asked = readJsonString(message.bytes, findNameMember(message));
  if (asked === undefined) return recordRefusal(call, notAString('params.name'));
  let found = await (kind === 'tool' ? view.tool(asked, cancellation) : view.prompt(asked, cancellation));
  if (kind === 'tool' && found.ok && found.value.server.isAsleep) {
    const refused = await wakeServer(call, found.value);
    if (refused !== undefined) return refused;
    found = await view.tool(asked, cancellation);
  }
  if (!found.ok) {
    const refusal: Refusal = cancellation.isCancelled ? { code: 'CANCELLED' } : found.error;
    return call.method === 'tools/call' ? refuseUnseen(call, asked, refusal) : recordRefusal(call, refusal);
  }
  const { server, key, name, definition } = found.value;
  const { parameters } = definition;
  call.entry = found.value;
  call.parameters = parameters;
  const fault =
    parameters && caller.headerLines && findParameterFault(message, parameters, caller.headerLines());
  return fault === undefined
    ? relay(call, { server, name: key === name ? undefined : name })
    : recordRefusal(call, { code: 'HEADER_MISMATCH', ...fault });
}

/**
 * Starts the idle server of a tool and waits until its list was read: the call is decided with what the server lists
 * now. A call that is refused anyway starts nothing. Returns the answer if the server is not ready.
 */
async function wakeServer(call: Call, entry: Entry): Promise<Answer | undefined> {
  const { server } = entry;
  call.entry = entry;
  await call.deps.policy.pending;
  if (getPolicy(call).decide(call)?.kind === 'refuse') return undefined;
  const listed = await server.waitUntilListed(call.cancellation);
  if (listed.ok) return undefined;
  return recordRefusal(call, call.cancellation.isCancelled ? { code: 'CANCELLED' } : listed.error, server);
}

function readResource(call: Call): Promise<Answer> {
  const uri = textAt(call, 'uri');
  const id = uri && findStoredResultId(uri);
  return uri === undefined || id === undefined
    ? relayUri(call, 'params.uri', uri)
    : readStoredResult(call, uri, id);
}

/** Answers with the whole of an earlier result, after a decision like that about the call of its tool. */
async function readStoredResult(call: Call, uri: string, id: string): Promise<Answer> {
  const { deps, identity, subject, view } = call;
  const key = { subject, tokenId: identity.tokenId ?? '', endpoint: view.endpoint };
  const found = (await deps.storedResults?.find(id, key)) ?? ok(undefined);
  if (!found.ok) return recordRefusal(call, found.error);
  await deps.policy.pending;
  const stored = found.value;
  const entry = stored && (await findStoredEntry(call, stored));
  if (stored === undefined || entry === undefined)
    return recordRefusal(call, { code: 'RESOURCE_UNKNOWN', uri });
  call.entry = entry;
  call.readsStoredResult = true;
  await learnLabels(call);
  const decision = decide(call);
  // An approval of the call covers its result.
  const { server } = entry;
  const isRefused = decision !== undefined && (decision.kind === 'refuse' || !stored.isApproved);
  const unsent = findSendRefusal(call, server);
  const refusal = unsent ?? (isRefused ? toReadRefusal(entry, call) : undefined);
  if (refusal !== undefined) return toSeenAnswer(call, recordRefusal(call, refusal, server));
  const record = beginRecord(call, server);
  const answer: Answer = { kind: 'relayed', reply: await buildStoredReply(uri, stored) };
  return labelAnswer(call, server, record?.end(answer) ?? answer);
}

/** Resolves a resource or template to its server and relays the call. */
async function relayUri(call: Call, field: string, uri: string | undefined): Promise<Answer> {
  if (uri === undefined) return recordRefusal(call, notAString(field));
  const { view } = call;
  const found = call.method === 'resources/read' ? await view.resource(uri) : await view.template(uri);
  return found.ok ? relay(call, { server: found.value, name: undefined }) : recordRefusal(call, found.error);
}

async function complete(call: Call): Promise<Answer> {
  const { bytes, params } = call.message;
  const ref = findMember(params, 'ref')?.object;
  switch (readJsonString(bytes, findMember(ref, 'type'))) {
    case 'ref/prompt':
      return relayNamed(call, 'prompt');
    case 'ref/resource':
      return relayUri(call, 'params.ref.uri', readJsonString(bytes, findMember(ref, 'uri')));
    default:
      return recordRefusal(call, {
        code: 'PARAMS_INVALID',
        field: 'params.ref.type',
        reason: 'it must be "ref/prompt" or "ref/resource"',
      });
  }
}

/** Adds task handling for the few requests that need it. */
function relay(call: Call, target: Target): Promise<Answer> {
  return concernsTasks(call, target.server) ? relayTasks(call, target, execute) : execute(call, target);
}

/** Decides on a call once it is known what its caller has seen, obtains approval if needed, sends and records it. */
async function execute(call: Call, target: Target): Promise<Answer> {
  const { use } = target.server;
  use.begin();
  try {
    return await executeInUse(call, target);
  } finally {
    use.end();
  }
}

async function executeInUse(call: Call, target: Target): Promise<Answer> {
  const { server } = target;
  const { pending } = call.deps.policy;
  if (pending !== undefined) await pending;
  if (call.method === 'tools/call') {
    const learned = learnLabels(call);
    if (learned !== undefined) await learned;
  }
  call.decidedLink = server.link;
  const decision = decide(call);
  const stopped = findStopRefusal(call, server);
  if (stopped !== undefined) return recordRefusal(call, stopped, server);
  const unapproved = decision && (await approve(call, decision));
  if (unapproved !== undefined) return toSeenAnswer(call, recordUnsent(call, unapproved, server));
  const record = beginRecord(call, server);
  call.trace = record?.trace;
  labelBeforeDelivery(call, server);
  if (!server.use.hasRunTool && call.tool !== undefined) server.use.hasRunTool = !isKnownReadOnly(call.tool);
  let answered: Answer;
  try {
    answered = await limitResult(call, await send(call, target));
  } catch (error) {
    record?.fail(error);
    throw error;
  }
  return labelAnswer(call, server, record?.end(answered) ?? answered);
}

/** Undefined if the call may proceed at once. */
function decide(call: Call): Exclude<Decision, { kind: 'allow' }> | undefined {
  const { telemetry } = call.deps;
  const policy = getPolicy(call);
  const decision = decideCall(call);
  call.decision = decision;
  if (decision === undefined) return undefined;
  telemetry?.meter?.decided(decision.kind);
  if (decision.kind === 'allow') return undefined;
  // If the client confirms calls, an `ask` is only recorded (DESIGN.md, D8). The pages always confirm.
  const isConfirmedByClient = policy.approvals === 'client' && !call.isFromPages;
  if (decision.kind !== 'ask' || !isConfirmedByClient) return decision;
  call.isAsked = false;
  return undefined;
}

/** Undefined if the call was approved. */
async function approve(
  call: Call,
  decision: Exclude<Decision, { kind: 'allow' }>,
): Promise<Answer | undefined> {
  if (decision.kind === 'ask') return obtainApproval(call, decision);
  const tool = readJsonString(call.message.bytes, findNameMember(call.message)) ?? '';
  return toRefusedAnswer(refuseByPolicy(tool, decision.reasons));
}

/** A question to the client does not end its call, so it is not counted. */
function recordUnsent(call: Call, answer: Answer, server: Server | undefined): Answer {
  if (answer.kind === 'refused') return recordRefusal(call, answer.refusal, server);
  startCallRecord(call)?.('question', 0);
  return answer;
}

async function answerConfigurationTool(call: Call): Promise<Answer> {
  const { configurationTool, message, subject } = call;
  let target = await configurationTool?.forward?.(message, subject);
  if (target?.isHidden !== true && target?.entry.server.isAsleep === true) {
    takeForwarded(call, target);
    const refused = await wakeServer(call, target.entry);
    if (refused !== undefined) return refused;
    Object.assign(call, { configurationTool, message, entry: undefined, parameters: undefined });
    target = await configurationTool?.forward?.(message, subject);
  }
  return target === undefined || target.isHidden === true
    ? runConfigurationTool(call, target)
    : relayForwarded(call, target);
}

/** From here on it is a call of that tool, as if the client had called it. */
function takeForwarded(call: Call, { entry, message }: ForwardedCall): void {
  call.configurationTool = undefined;
  call.message = message;
  call.entry = entry;
  call.parameters = entry.definition.parameters;
}

function relayForwarded(call: Call, target: ForwardedCall): Promise<Answer> {
  const { server, key, name } = target.entry;
  takeForwarded(call, target);
  return relay(call, { server, name: key === name ? undefined : name });
}

/** `hidden`: the tool that it does not find, as rules hide it from the caller. */
async function runConfigurationTool(call: Call, hidden?: ForwardedCall): Promise<Answer> {
  await call.deps.policy.pending;
  const decision = decide(call);
  const answer = decision && (await approve(call, decision));
  if (answer !== undefined) return toSeenAnswer(call, recordUnsent(call, answer, undefined));
  const record = hidden === undefined ? beginRecord(call, undefined) : undefined;
  try {
    const result = await call.configurationTool?.call(call);
    if (result === undefined) throw new Error('resolved to no tool');
    if (hidden !== undefined) recordForwarded(call, hidden);
    return record?.end({ kind: 'own', result }) ?? { kind: 'own', result };
  } catch (error) {
    record?.fail(error);
    throw error;
  }
}

function recordForwarded(call: Call, { entry, message }: ForwardedCall): void {
  call.configurationTool = undefined;
  call.message = message;
  recordHidden(call, entry.key, entry);
}

function textAt({ message }: Call, key: string): string | undefined {
  return readJsonString(message.bytes, findMember(message.params, key));
}

function notAString(field: string): Refusal {
  return { code: 'PARAMS_INVALID', field, reason: 'it must be a string' };
}

function invalidParams(field: string, reason: string): Answer {
  return toRefusedAnswer({ code: 'PARAMS_INVALID', field, reason });
}

/**
 * Refuses a call whose tool the caller does not see. If rules hide the tool, the record names the rule, which the caller
 * does not learn.
 */
function refuseUnseen(call: Call, name: string, refusal: Refusal): Answer {
  const found = call.caller.isOperator === true ? undefined : call.view.hiddenTool(name, call.subject);
  if (found === undefined) return recordRefusal(call, refusal, undefined);
  recordHidden(call, name, found);
  const { telemetry } = call.deps;
  return toRefusedAnswer(telemetry === undefined ? refusal : maskRefusal(refusal, telemetry.mask));
}

/** Records a call that a rule refuses, whatever its caller is told. */
function recordHidden(call: Call, name: string, found: Entry | ConfigurationTool): void {
  if ('server' in found) call.entry = found;
  else call.configurationTool = found;
  const decision: Decision = getPolicy(call).decide(call) ?? { kind: 'refuse', reasons: [] };
  call.decision = decision;
  call.deps.telemetry?.meter?.decided(decision.kind);
  const refusal = { code: 'CALL_REFUSED', tool: name, reasons: decision.reasons } as const;
  recordRefusal(call, refusal, call.entry?.server);
}

/** The answer as its caller gets it. A rule that hides the tool may have come into force after the tool was found. */
function toSeenAnswer(call: Call, answer: Answer): Answer {
  if (answer.kind !== 'refused' || answer.refusal.code !== 'CALL_REFUSED' || call.caller.isOperator === true)
    return answer;
  const found = call.configurationTool ?? call.entry;
  const hidden = call.deps.policy.hidden?.(call);
  return found !== undefined && isHidden(found, hidden)
    ? toRefusedAnswer({ code: 'TOOL_UNKNOWN', name: answer.refusal.tool })
    : answer;
}

const DONE: Answer = { kind: 'own', result: Buffer.from('{}') };

/** Answers `resources/subscribe`. Errors of the server are relayed to the client. */
function subscribe(call: Call): Promise<Answer> {
  return withUri(call, async (uri, subscriptions) => {
    const answer = await subscriptions.subscribe(uri, call.cancellation);
    if (answer.kind === 'honoured') {
      const kept = await call.caller.keep?.({ kind: 'subscribe', uri });
      if (kept?.ok !== false) return DONE;
      subscriptions.unsubscribe(uri);
      return toRefusedAnswer(kept.error);
    }
    return answer.kind === 'refused'
      ? { kind: 'relayed', reply: answer.reply }
      : toRefusedAnswer(answer.refusal);
  });
}

/** Answers `resources/unsubscribe`. Succeeds even without a subscription. */
function unsubscribe(call: Call): Promise<Answer> {
  return withUri(call, async (uri, subscriptions) => {
    const kept = await call.caller.keep?.({ kind: 'unsubscribe', uri });
    if (kept?.ok === false) return toRefusedAnswer(kept.error);
    subscriptions.unsubscribe(uri);
    return DONE;
  });
}

async function withUri(
  { message, view, caller }: Call,
  step: (uri: string, subscriptions: ClientSubscriptions) => Promise<Answer>,
): Promise<Answer> {
  const { method, bytes, params } = message;
  const { subscriptions } = caller;
  if (subscriptions === undefined || !view.has('resources', 'subscribe'))
    return toRefusedAnswer({ code: 'METHOD_UNKNOWN', method });
  const uri = readJsonString(bytes, findMember(params, 'uri'));
  const reason = 'it must be a string';
  if (uri === undefined) return toRefusedAnswer({ code: 'PARAMS_INVALID', field: 'params.uri', reason });
  return step(uri, subscriptions);
}
