import { STALE } from '../../core/freshness.ts';
import { isAcknowledgement, MAX_ACKNOWLEDGEMENT_BYTES } from '../../core/policy/acknowledgement.ts';
import { mergeLabels } from '../../core/policy/session-labels.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import {
  type Decision,
  NO_LABELS,
  type Policy,
  type PolicyReason,
  type PolicyTool,
  type SessionLabel,
} from '../../core/policy/policy.ts';
import type { Server } from '../catalog/server.ts';
import { computeServerLabels } from '../catalog/server-labels.ts';
import { findMember, readRawValue } from '@assay-mcp/protocol/spans';
import type { NotificationMessage } from '@assay-mcp/protocol/message';
import type { Answer, Call, ClientChannel } from './call.ts';

/**
 * Sets what the caller has seen, for the decision. If the decision depends on it, the store is read first: another
 * replica may just have delivered a result that set a label.
 */
export function learnLabels(call: Call): Promise<void> | undefined {
  const { subject } = call;
  const { labels } = call.deps;
  const policy = getPolicy(call);
  const isEnforced = enforcesLabels(call);
  labels.calls(subject, isEnforced);
  call.labels = labels.of(subject);
  // For the record alone, what this process knows is enough: no call waits for it.
  if (!isEnforced) return undefined;
  const { tool } = call;
  if (tool === undefined || !policy.dependsOnLabels(tool)) return undefined;
  return labels.read(subject).then((read) => {
    call.labels = read;
  });
}

function enforcesLabels(call: Call): boolean {
  const { enforcesLabels: enforced } = getPolicy(call);
  return enforced === 'all' || (enforced === 'from_pages' && call.isFromPages);
}

/** The decision about a call. The pages always ask, so labels must not be a reason there if they are only recorded. */
export function decideCall(call: Call): Decision | undefined {
  return call.isFromPages && !enforcesLabels(call) ? decideWithoutLabels(call) : getPolicy(call).decide(call);
}

/** The refusal of a call that the policy refuses. A client may repeat it if the policy could not be read for now. */
export function refuseByPolicy(tool: string, reasons: readonly PolicyReason[]): Refusal {
  return reasons.some(({ code }) => code === 'store_away') ? STALE : { code: 'CALL_REFUSED', tool, reasons };
}

/** The other reasons to ask or refuse. */
export function decideWithoutLabels(call: Call): Decision | undefined {
  const { identity, toolset, tool, hasArguments } = call;
  return getPolicy(call).decide({ identity, toolset, tool, hasArguments, labels: NO_LABELS });
}

/** Adds what the caller has seen while the call waited. */
export function relearnLabels(call: Call): void {
  call.labels = mergeLabels(call.labels, call.deps.labels.of(call.subject));
}

/** The policy for the caller of a call. */
export function getPolicy({ deps, identity }: Call): Policy {
  const { policy } = deps;
  return policy.of?.(identity) ?? policy.current;
}

/**
 * Labels the caller before anything from the server reaches it during the call: progress, log messages, other
 * notifications and server requests. All of them go through the call's client, so this is the only place to do it.
 * From here on, what the client is sent comes from the server.
 */
export function labelBeforeDelivery(call: Call, { spec }: Server): void {
  const { client } = call;
  const channel = new LabelledChannel(client, () => labelsBefore(call, spec));
  call.client = channel;
  call.delivered = channel.delivered;
}

/** The same for the answer, after everything that was sent before it. */
export function labelAnswer(call: Call, { spec }: Server, answer: Answer): Answer | Promise<Answer> {
  const isOurs = answer.kind === 'refused' && !('cause' in answer.refusal);
  const saved = isOurs ? undefined : labelsBefore(call, spec, answer);
  const sent = call.delivered?.();
  if (saved === undefined && sent === undefined) return answer;
  return Promise.all([saved, sent]).then(() => answer);
}

/** Resolves when the labels are stored, if that has to be awaited: the next call may reach another replica. */
function labelsBefore(call: Call, spec: ServerSpec, answer?: Answer): Promise<void> | undefined {
  const { method, subject, tool } = call;
  const seen = tool === undefined ? computeServerLabels(spec) : labelsOfAnswer(call, tool, answer);
  if (seen.size === 0) return undefined;
  const source = tool === undefined ? `${spec.name} ${method}` : `${spec.name}.${tool.name}`;
  const saved = call.deps.labels.add(subject, seen, source);
  return enforcesLabels(call) ? saved : undefined;
}

/** What an answer of the tool adds; undefined stands for everything that is sent before it. */
function labelsOfAnswer(call: Call, tool: PolicyTool, answer: Answer | undefined): ReadonlySet<SessionLabel> {
  const { labels = NO_LABELS, acknowledgementLabels = labels } = tool;
  if (acknowledgementLabels === labels || answer?.kind !== 'relayed') return labels;
  // Parsed only if it makes a difference.
  const known = call.deps.labels.of(call.subject);
  if (mergeLabels(known, labels) === mergeLabels(known, acknowledgementLabels)) return labels;
  const { bytes, root } = answer.reply.message;
  const result = findMember(root, 'result');
  if (result === undefined || result.end - result.start > MAX_ACKNOWLEDGEMENT_BYTES) return labels;
  return isAcknowledgement(readRawValue(bytes, result), call.argumentsText) ? acknowledgementLabels : labels;
}

/** Holds messages until the label is stored, in their order. */
class LabelledChannel implements ClientChannel {
  readonly #client: ClientChannel;
  readonly #label: () => Promise<void> | undefined;
  readonly ask: ClientChannel['ask'];
  readonly onWaiting: NonNullable<ClientChannel['onWaiting']>;
  #held: Promise<void> | undefined;

  constructor(client: ClientChannel, label: () => Promise<void> | undefined) {
    this.#client = client;
    this.#label = label;
    const { ask } = client;
    this.ask = ask && ((serverRequest) => this.#deliver(() => ask(serverRequest)));
    this.onWaiting = (approval) => client.onWaiting?.(approval);
  }

  notify(note: NotificationMessage, bytes: Buffer): void {
    this.#deliver(() => this.#client.notify(note, bytes));
  }

  /** Resolves when all messages so far were passed on. Undefined if none is held. */
  readonly delivered = (): Promise<void> | undefined => this.#held;

  #deliver(pass: () => void): void {
    const saved = this.#label();
    if (saved === undefined && this.#held === undefined) {
      pass();
      return;
    }
    const held: Promise<void> = Promise.all([this.#held, saved]).then(() => {
      if (this.#held === held) this.#held = undefined;
      pass();
    });
    this.#held = held;
  }
}
