import { type Cause, withStderr } from '../../core/cause.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Transport } from '../../core/server-spec.ts';
import type {
  UpstreamRequest,
  Capabilities,
  Link,
  LinkEvents,
  Log,
  Reply,
  ResourceStream,
} from '../../gateway/ports/link.ts';
import type { Era } from '../../protocol/eras.ts';
import type { Child } from '../../platform/child.ts';
import { InOrder } from '../../platform/in-order.ts';
import { LineSplitter } from '../../platform/lines.ts';
import { atMost } from '../../platform/turns.ts';
import { NotificationLimiter } from './notification-limiter.ts';
import { Attempt, type LinkAttempt } from './opening.ts';
import { Conversation } from './conversation.ts';
import { notificationMessage } from '../../protocol/reply.ts';
import { onOneLine } from '../../protocol/splice.ts';
import {
  discover,
  initialize,
  type Discovery,
  type Facts,
  type HandshakeFault,
  type Introduction,
} from './handshake.ts';
import { SERVER_MESSAGE_LIMIT } from './incoming.ts';
import { StderrTail } from './stderr-tail.ts';
import { Listening } from './listening.ts';

/**
 * Time in ms after which `initialize` is sent as well if `server/discover` is unanswered. A server that just starts
 * slowly answers both in turn, so sending it early costs nothing.
 */
const PROBE_PATIENCE_MS = 2_000;
const LINE_FEED: Buffer = Buffer.from('\n');

/** Starts a server's process and shakes hands with it. The same process serves either era. */
export async function openStdio(
  opening: LinkAttempt,
  transport: Extract<Transport, { kind: 'stdio' }>,
): Promise<Result<Link, Cause>> {
  const { spec, deps } = opening;
  const recalled = deps.recallEra(spec) ?? deps.suspects.get(spec.name);
  const first = await attempt(opening, transport, recalled);
  if (first.ok) return first;
  const { cause, diedOfProbe } = first.error;
  if (recalled === 'legacy' || opening.signal.aborted || !diedOfProbe) return err(cause);
  // Some legacy servers exit on a message they do not expect before `initialize`. The era is remembered after this.
  const second = await attempt(opening, transport, 'legacy');
  if (second.ok) return second;
  // It exits whatever it is sent; from now on, spawn it once per attempt.
  deps.suspects.set(spec.name, 'legacy');
  return err(cause);
}

interface Failure {
  readonly cause: Cause;
  readonly diedOfProbe: boolean;
}

async function attempt(
  { spec, events, deps, signal, client: profile }: LinkAttempt,
  transport: Extract<Transport, { kind: 'stdio' }>,
  recalled: Era | undefined,
): Promise<Result<Link, Failure>> {
  const child = deps.takeStarted?.(spec) ?? deps.launcher.launch(transport);
  const attempted = new Attempt(events);
  const isTaken = (): boolean => child.untakenBytes < deps.backlogBytes;
  const notifications = new NotificationLimiter({ server: spec.name, log: deps.log, isTaken });
  const conversation = new Conversation({
    server: spec.name,
    ownInfo: deps.ownInfo,
    events: attempted,
    log: deps.log,
    send: (pieces, id) => {
      if (id !== undefined || notifications.mayGo()) child.write([...pieces.map(onOneLine), LINE_FEED]);
    },
  });
  const output = connectStdout(child, conversation, { server: spec.name, log: deps.log });
  const stderr = new StderrTail(child, { server: spec.name, log: deps.log });
  void child.ended.then(async (cause) => {
    await Promise.all([stderr.read(), allHeard(child, output)]);
    conversation.end(withStderr(cause, stderr.errorLine));
  });
  child.onDrain(() => attempted.drained());
  const facts = await performHandshake(conversation, { ownInfo: deps.ownInfo, profile, recalled, signal });
  if (!facts.ok) {
    const diedOfProbe = conversation.hasEnded && recalled === undefined;
    // Before it is ended: what it writes then is not why it failed.
    const cause = withStderr(facts.error.cause, stderr.errorLine);
    conversation.end(cause);
    await child.end();
    return err({ cause, diedOfProbe });
  }
  attempted.succeeded();
  conversation.era = facts.value.era;
  if (facts.value.era === 'legacy') conversation.say(notificationMessage('notifications/initialized'));
  const parts = { child, conversation, facts: facts.value, events, server: spec.name, log: deps.log };
  return ok(new StdioLink(parts));
}

function connectStdout(
  child: Child,
  conversation: Conversation,
  { server, log }: { readonly server: string; readonly log: Log },
): InOrder {
  const messages = new InOrder({
    take: (line) => conversation.receive(line),
    hold: (isHeld) => child.holdOutput(isHeld),
  });
  const output = new LineSplitter(SERVER_MESSAGE_LIMIT, {
    line: (line) => messages.push(line),
    tooLong: () =>
      log.warn('server sent a line that is too long; it is ignored', { server, code: 'LINE_TOO_LONG' }),
  });
  child.onOutput((chunk) => output.push(chunk));
  return messages;
}

/** Time in ms to read what an exited child left in its pipe, while reading is not paused. */
const DRAIN_MS = 500;

/** Waits until the remaining output of an exited server has been handled. */
async function allHeard(child: Child, messages: InOrder): Promise<void> {
  if (messages.isIdle) return;
  await idle(messages);
  await atMost(child.outputRead, DRAIN_MS);
  await idle(messages);
}

function idle(messages: InOrder): Promise<void> {
  return new Promise((resolve) => messages.whenIdle(resolve));
}

interface HandshakeOptions extends Introduction {
  readonly recalled: Era | undefined;
  readonly signal: AbortSignal;
}

async function performHandshake(
  conversation: Conversation,
  options: HandshakeOptions,
): Promise<Result<Facts, HandshakeFault>> {
  const { recalled, signal } = options;
  const probe = (request: UpstreamRequest, to: Era): Promise<Result<Reply, Refusal>> =>
    conversation.ask(request, to);
  if (recalled === 'legacy') {
    const facts = await initialize(probe, options, signal);
    if (facts.ok || signal.aborted) return facts;
  }
  const discovery = discover(probe, signal);
  const early = await atMost(discovery, PROBE_PATIENCE_MS);
  if (early?.kind === 'modern') return ok(early.facts);
  const initialized = initialize(probe, options, signal);
  return early === undefined ? settled(discovery, initialized) : initialized;
}

/**
 * The outcome of asking in both eras. A server that accepts `initialize` speaks the legacy era from then on, also if it
 * answered `server/discover` before (2026-07-28, basic/transports/stdio#backward-compatibility).
 */
async function settled(
  discovery: Promise<Discovery>,
  initialized: Promise<Result<Facts, HandshakeFault>>,
): Promise<Result<Facts, HandshakeFault>> {
  const facts = discovery.then((found) => (found.kind === 'modern' ? found.facts : undefined));
  const modern = await Promise.race([facts, initialized.then(({ ok }) => (ok ? undefined : facts))]);
  if (modern === undefined) return initialized;
  const legacy = await atMost(initialized, PROBE_PATIENCE_MS);
  return legacy?.ok === true ? legacy : ok(modern);
}

interface StdioLinkParts {
  readonly child: Child;
  readonly conversation: Conversation;
  readonly facts: Facts;
  readonly events: LinkEvents;
  readonly server: string;
  readonly log: Log;
}

class StdioLink implements Link {
  readonly correlatesServerRequests = false;
  readonly era: Era;
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly instructions: string | undefined;
  readonly resources: ResourceStream | undefined;
  readonly #child: Child;
  readonly #conversation: Conversation;
  readonly #closing = new AbortController();

  constructor({ child, conversation, facts, events, server, log }: StdioLinkParts) {
    this.era = facts.era;
    this.version = facts.version;
    this.capabilities = facts.capabilities;
    this.instructions = facts.instructions;
    this.#child = child;
    this.#conversation = conversation;
    const { signal } = this.#closing;
    const ask = (request: UpstreamRequest): Promise<Result<Reply, Refusal>> => conversation.ask(request);
    this.resources =
      facts.era === 'modern' ? new Listening({ server, log, facts, events, signal, ask }) : undefined;
  }

  get unreadBytes(): number {
    return this.#child.untakenBytes;
  }

  send(request: UpstreamRequest): Promise<Result<Reply, Refusal>> {
    return this.#conversation.ask(request);
  }

  notify(note: Buffer): void {
    if (this.era === 'legacy') this.#conversation.say(note);
  }

  async close(cause: Cause): Promise<void> {
    this.#closing.abort();
    this.#conversation.end(cause);
    await this.#child.end();
  }
}
