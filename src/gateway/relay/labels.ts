import { joinedLabels, labelsAfterResult } from '../../core/policy/session-labels.ts';
import { sourceKind } from '../../core/sources/source-kinds.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import { NO_LABELS, type Policy, type SessionLabel } from '../../core/policy/policy.ts';
import type { Server } from '../catalog/server.ts';
import type { Answer, Call } from './call.ts';

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

/** Adds the labels that follow from an answer to the caller, before it is delivered. */
export function labelled(call: Call, { spec }: Server, answer: Answer): Answer | Promise<Answer> {
  // A refusal contains nothing from the server, but earlier messages do.
  if (answer.kind === 'refused' && !call.wasNotified && !call.wasAsked) return answer;
  const { method, subject, tool } = call;
  const seen = tool === undefined ? seenWithoutTool(method, spec) : (tool.labels ?? NO_LABELS);
  if (seen.size === 0) return answer;
  const { labels } = call.view.calls;
  const source = tool === undefined ? `${spec.name} ${method}` : `${spec.name}.${tool.name}`;
  const saved = labels.add(subject, seen, source);
  // If decisions depend on labels, they must be stored first: the next call may reach another replica.
  return saved === undefined || policyOf(call).outbound === 'allow' ? answer : saved.then(() => answer);
}

/** Resources, prompts and results of tasks have no hints, so they are treated like a tool without hints. */
function seenWithoutTool(method: string, { transport, tags = [] }: ServerSpec): ReadonlySet<SessionLabel> {
  if (!CONTENT.has(method)) return NO_LABELS;
  const holdsPrivateData = sourceKind(transport).holdsPrivateData(transport);
  return labelsAfterResult({ hints: undefined, tags, holdsPrivateData });
}

const CONTENT: ReadonlySet<string> = new Set(['resources/read', 'prompts/get', 'tasks/get', 'tasks/result']);
