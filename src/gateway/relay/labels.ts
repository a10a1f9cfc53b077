import { joinedLabels } from '../../core/policy/session-labels.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import { NO_LABELS, type Policy } from '../../core/policy/policy.ts';
import type { Server } from '../catalog/server.ts';
import { labelsOfServer } from '../catalog/server-labels.ts';
import type { NotificationMessage } from '../../protocol/message.ts';
import type { Answer, Call, ClientChannel } from './call.ts';

/**
 * Sets what the caller has seen, for the decision. If the decision depends on it, the store is read first: another
 * replica may just have delivered a result that set a label.
 */
export function learnLabels(call: Call): Promise<void> | undefined {
  const { subject } = call;
  const { labels } = call.view.calls;
  const policy = policyOf(call);
  labels.calls(subject, policy.outbound !== 'allow');
  call.labels = labels.of(subject);
  if (policy.outbound === 'allow') return undefined;
  const { tool } = call;
  if (tool === undefined || !policy.dependsOnLabels(tool)) return undefined;
  return labels.read(subject).then((read) => {
    call.labels = read;
  });
}

/** Adds what the caller has seen while the call waited. */
export function relearnLabels(call: Call): void {
  call.labels = joinedLabels(call.labels, call.view.calls.labels.of(call.subject));
}

/** The policy for the caller of a call. */
export function policyOf({ view, identity }: Call): Policy {
  const { policy } = view.calls;
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
export function labelled(call: Call, { spec }: Server, answer: Answer): Answer | Promise<Answer> {
  const isOurs = answer.kind === 'refused' && !('cause' in answer.refusal);
  const saved = isOurs ? undefined : labelsBefore(call, spec);
  const sent = call.delivered?.();
  if (saved === undefined && sent === undefined) return answer;
  return Promise.all([saved, sent]).then(() => answer);
}

/** Resolves when the labels are stored, if that has to be awaited: the next call may reach another replica. */
function labelsBefore(call: Call, spec: ServerSpec): Promise<void> | undefined {
  const { method, subject, tool } = call;
  const seen = tool === undefined ? labelsOfServer(spec) : (tool.labels ?? NO_LABELS);
  if (seen.size === 0) return undefined;
  const source = tool === undefined ? `${spec.name} ${method}` : `${spec.name}.${tool.name}`;
  const saved = call.view.calls.labels.add(subject, seen, source);
  return policyOf(call).outbound === 'allow' ? undefined : saved;
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
