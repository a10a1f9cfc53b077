import { type Cause, addStderr } from '../../core/cause.ts';
import { FIXED_LIMITS } from '../../core/fixed-limits.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { DiscardedFiles, ObservedDenial } from '@assay-mcp/sandbox/denial';
import type { SandboxGap, UnsafePath } from '@assay-mcp/sandbox/support';
import type { ServerSpec, Transport } from '../../core/server-spec.ts';
import { findErrorLine } from '@assay-mcp/kit/stderr-error';
import type {
  UpstreamRequest,
  Capabilities,
  Link,
  LinkEvents,
  Reply,
  ResourceStream,
} from '../../gateway/ports/link.ts';
import type { Log } from '../../gateway/ports/log.ts';
import { DEFAULT_GRACE_MS, type Child } from '@assay-mcp/kit/platform/child';
import { InOrder } from '@assay-mcp/kit/platform/in-order';
import { LineSplitter } from '@assay-mcp/kit/platform/lines';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import type { Era } from '@assay-mcp/protocol/eras';
import { buildNotification } from '@assay-mcp/protocol/reply';
import { toOneLine } from '@assay-mcp/protocol/splice';
import { Conversation } from './conversation.ts';
import {
  discover,
  initialize,
  type Discovery,
  type Facts,
  type HandshakeFault,
  type Introduction,
} from './handshake.ts';
import { SERVER_MESSAGE_LIMIT } from './incoming.ts';
import { launchServer, toStopOptions } from './launch-server.ts';
import { Listening } from './listening.ts';
import { NotificationLimiter } from './notification-limiter.ts';
import { openTwin } from './open-twin.ts';
import { Attempt, toHttpReach, type LinkAttempt } from './opening.ts';

/**
 * Time in ms after which `initialize` is sent as well if `server/discover` is unanswered. A server that just starts
 * slowly answers both in turn, so sending it early costs nothing.
 */
const PROBE_PATIENCE_MS = 2_000;
/** The same time for a server that is known to speak the modern era. */
const MODERN_PATIENCE_MS = 10_000;
const LINE_FEED: Buffer = Buffer.from('\n');

/** Starts a server's process and shakes hands with it. The same process serves either era. */
export function openStdio(
  opening: LinkAttempt,
  transport: Extract<Transport, { kind: 'stdio' }>,
): Promise<Result<Link, Cause>> {
  const open = (one: LinkAttempt): Promise<Result<Link, Cause>> => openProcess(one, transport);
  return opening.rights === undefined ? open(opening) : openTwin(opening, open);
}

async function openProcess(
  opening: LinkAttempt,
  transport: Extract<Transport, { kind: 'stdio' }>,
): Promise<Result<Link, Cause>> {
  const { spec, deps } = opening;
  const recalled = deps.recallEra(spec) ?? deps.suspects.get(spec.name);
  const first = await attempt(opening, transport, recalled);
  if (first.ok) return first;
  const { cause, again } = first.error;
  if (again === undefined || opening.signal.aborted) return err(cause);
  const second = await attempt(opening, transport, again);
  if (second.ok) return second;
  // It exits whatever it is sent, so from now on it is spawned once per attempt.
  if (again === 'legacy') deps.suspects.set(spec.name, 'legacy');
  return err(again === 'legacy' ? cause : second.error.cause);
}

interface Failure {
  readonly cause: Cause;
  /**
   * The era to try next in a new process. Legacy: it exited, as some legacy servers do on a message they do not expect
   * before `initialize`. Modern: it speaks both eras, but started so slowly that it settled on the legacy one.
   */
  readonly again: Era | undefined;
}

async function attempt(
  opening: LinkAttempt,
  transport: Extract<Transport, { kind: 'stdio' }>,
  recalled: Era | undefined,
): Promise<Result<Link, Failure>> {
  const { spec, events, deps, signal, client: profile } = opening;
  const started = await start(opening, transport);
  if (!started.ok) return err({ cause: started.error, again: undefined });
  const { child, refused, discarded } = started.value;
  const attempted = new Attempt(events);
  const { backlogBytes: maxBytes = FIXED_LIMITS.backlogBytes } = deps;
  const isTaken = (): boolean => child.unreadBytes < maxBytes;
  const notifications = new NotificationLimiter({ server: spec.name, log: deps.log, isTaken });
  const conversation = new Conversation({
    server: spec.name,
    ownInfo: deps.ownInfo,
    events: attempted,
    log: deps.log,
    send: (pieces, id) => {
      if (id !== undefined || notifications.mayGo()) child.write([...pieces.map(toOneLine), LINE_FEED]);
    },
  });
  const output = connectStdout(child, conversation, { server: spec.name, log: deps.log });
  const stderr = new StderrTail(child, { server: spec.name, log: deps.log });
  void child.ended.then(async (cause) => {
    await Promise.all([stderr.read(), allHeard(child, output)]);
    conversation.end(addStderr(cause, stderr.errorLine));
  });
  child.onDrain(() => attempted.drained());
  const facts = await performHandshake(conversation, { ownInfo: deps.ownInfo, profile, recalled, signal });
  if (!facts.ok) {
    const hasDied = conversation.hasEnded && recalled === undefined;
    const again = signal.aborted ? undefined : hasDied ? 'legacy' : facts.error.again;
    // Read before the process is ended: whatever it writes after that is not the cause.
    const cause = addStderr(facts.error.cause, stderr.errorLine);
    conversation.end(cause);
    const ended = child.end();
    // Another attempt follows when this process is gone: it may hold a port or a lock.
    if (again !== undefined || opening.onEnding === undefined) await ended;
    else opening.onEnding(ended);
    return err({ cause, again });
  }
  attempted.succeeded();
  conversation.era = facts.value.era;
  if (facts.value.era === 'legacy') conversation.say(buildNotification('notifications/initialized'));
  const parts = {
    child,
    conversation,
    facts: facts.value,
    events,
    server: spec.name,
    log: deps.log,
    ...{ refused, discarded },
  };
  await discarded?.settle(signal);
  return ok(new StdioLink(parts));
}

interface Started {
  readonly child: Child;
  /** The last connections that its sandbox denied. */
  readonly refused?: (() => readonly ObservedDenial[]) | undefined;
  readonly discarded?: DiscardedFiles | undefined;
}

/** Starts the process, in a sandbox if it is a twin, its server has `sandbox: "strict"`, or Assay confines its own code. */
async function start(
  opening: LinkAttempt,
  transport: Extract<Transport, { kind: 'stdio' }>,
): Promise<Result<Started, Cause>> {
  const { spec, deps, rights: ofTwin, discards = false, onDenials, signal } = opening;
  const ownRights =
    transport.confinement?.rights ?? (transport.sandbox === 'strict' ? 'write_roots' : undefined);
  const rights = ofTwin ?? ownRights;
  // Before any of its processes runs: otherwise it could decide by links what its sandboxed processes may use.
  if (transport.sandbox !== undefined) await deps.declare?.(transport);
  if (rights === undefined)
    return ok({ child: deps.takeStarted?.(spec) ?? launchServer(spec, transport, deps) });
  const { reaches: namedReaches, resolve } = toHttpReach(opening);
  const isWatched = onDenials !== undefined;
  const confined = await deps.confine(transport, { rights, isWatched, discards, namedReaches, resolve });
  if (!confined.ok) return err(sandboxCause(confined.error));
  const { denials, refused, discarded, onEnd, ...options } = confined.value;
  if (signal.aborted) {
    await discarded?.close();
    return err({ code: 'LINK_CLOSED' });
  }
  const child = deps.launcher.launch({ ...options, ...toStopOptions(spec) });
  discarded?.hold(child);
  void child.ended.then(async () => {
    onEnd?.();
    if (denials !== undefined) onDenials?.(await denials());
  });
  return ok({ child, refused, discarded });
}

function sandboxCause(error: SandboxGap | UnsafePath): Cause {
  return typeof error === 'string'
    ? { code: 'SANDBOX_UNAVAILABLE', gap: error }
    : { code: 'SANDBOX_UNSAFE', ...error };
}

function connectStdout(
  child: Child,
  conversation: Conversation,
  { server, log }: { readonly server: string; readonly log: Log },
): InOrder {
  const messages = new InOrder({
    take: (line) => conversation.receive(line),
    hold: (isHeld) => child.holdOutput(isHeld),
    peer: child.peer,
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
  await waitAtMost(child.outputRead, DRAIN_MS);
  await idle(messages);
}

function idle(messages: InOrder): Promise<void> {
  return new Promise((resolve) => messages.whenIdle(resolve));
}

interface HandshakeOptions extends Introduction {
  readonly recalled: Era | undefined;
  readonly signal: AbortSignal;
}

interface FailedHandshake extends HandshakeFault {
  readonly again?: Era;
}

async function performHandshake(
  conversation: Conversation,
  options: HandshakeOptions,
): Promise<Result<Facts, FailedHandshake>> {
  const { recalled, signal } = options;
  const probe = (request: UpstreamRequest, to: Era): Promise<Result<Reply, Refusal>> =>
    conversation.ask(request, to);
  if (recalled === 'legacy') {
    const facts = await initialize(probe, options, signal);
    if (facts.ok || signal.aborted) return facts;
  }
  const discovery = discover(probe, signal);
  const early = await waitAtMost(discovery, recalled === 'modern' ? MODERN_PATIENCE_MS : PROBE_PATIENCE_MS);
  if (early?.kind === 'modern') return ok(early.facts);
  const initialized = initialize(probe, options, signal);
  if (early !== undefined) return initialized;
  const modern = await modernUnlessRefused(discovery, initialized);
  if (modern === undefined) return initialized;
  // A server that accepts `initialize` speaks the legacy era from then on, whatever it answered before.
  const legacy = await waitAtMost(initialized, PROBE_PATIENCE_MS);
  if (legacy?.ok !== true) return ok(modern);
  return recalled === undefined ? err({ ...NEVER_READY, again: 'modern' }) : legacy;
}

const NEVER_READY: HandshakeFault = { cause: { code: 'HANDSHAKE_TIMEOUT' }, httpStatus: undefined };

/** Time in ms to handle an answer to `server/discover` that was received just before the one to `initialize`. */
const READ_MS = 100;

/** What a modern server answered to `server/discover`; undefined once it is certain that the server is legacy. */
async function modernUnlessRefused(
  discovery: Promise<Discovery>,
  initialized: Promise<Result<Facts, HandshakeFault>>,
): Promise<Facts | undefined> {
  const modern = discovery.then((found) => (found.kind === 'modern' ? found.facts : undefined));
  return Promise.race([modern, initialized.then(({ ok }) => (ok ? waitAtMost(modern, READ_MS) : modern))]);
}

interface StdioLinkParts {
  readonly child: Child;
  readonly refused: Started['refused'];
  readonly discarded: Started['discarded'];
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
  readonly refused: Started['refused'];
  readonly discarded: Started['discarded'];
  readonly #child: Child;
  readonly #conversation: Conversation;
  readonly #closing = new AbortController();

  constructor({ child, conversation, facts, events, server, log, refused, discarded }: StdioLinkParts) {
    this.refused = refused;
    this.discarded = discarded;
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
    return this.#child.unreadBytes;
  }

  send(request: UpstreamRequest): Promise<Result<Reply, Refusal>> {
    return this.#conversation.ask(request);
  }

  notify(note: Buffer): void {
    if (this.era === 'legacy') this.#conversation.say(note);
  }

  adopt(spec: ServerSpec): void {
    const { graceMs = DEFAULT_GRACE_MS } = toStopOptions(spec);
    this.#child.graceMs = graceMs;
  }

  async close(cause: Cause): Promise<void> {
    this.#closing.abort();
    this.#conversation.end(cause);
    await this.#child.end();
  }
}

/** Lines kept of one process; a stack trace or a usage text fits. */
const MAX_LINES = 100;
/** Bytes kept of one line. */
const MAX_LINE_BYTES = 500;
/** Longer lines are dropped. */
const LINE_LIMIT = 64 * 1024;
/** Time in ms to read what an exited process left in its pipe. */
const STDERR_DRAIN_MS = 1_000;

/** Reads the stderr of a server: logs each line at debug, and keeps the last ones for the cause of a failure. */
class StderrTail {
  readonly #lines: string[] = [];
  readonly #child: Child;
  #next = 0;

  constructor(child: Child, { server, log }: { readonly server: string; readonly log: Log }) {
    this.#child = child;
    const splitter = new LineSplitter(LINE_LIMIT, {
      line: (line) => {
        log.debug('server stderr', { server, stream: 'stderr', text: line.toString() });
        this.#keep(line.toString('utf8', 0, MAX_LINE_BYTES));
      },
      tooLong: () => log.debug('server stderr has a line that is too long', { server }),
    });
    child.onErrorOutput((chunk) => splitter.push(chunk));
    void child.errorOutputRead.then(() => splitter.end());
  }

  /** Resolves when all of an exited process was read, or it takes too long. */
  async read(): Promise<void> {
    await waitAtMost(this.#child.errorOutputRead, STDERR_DRAIN_MS);
  }

  /** What the process wrote about its failure so far. */
  get errorLine(): string | undefined {
    return findErrorLine([...this.#lines.slice(this.#next), ...this.#lines.slice(0, this.#next)]);
  }

  #keep(line: string): void {
    this.#lines[this.#next] = line;
    this.#next = (this.#next + 1) % MAX_LINES;
  }
}
