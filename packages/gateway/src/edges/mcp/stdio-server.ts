import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { FIXED_LIMITS, type FixedLimits } from '../../core/fixed-limits.ts';
import type { Refusal } from '../../core/refusal.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import type { Settings } from '../../core/settings.ts';
import type { AttachedClient, SoleClient } from '../../gateway/catalog/client-session.ts';
import { readModernProfile } from '../../gateway/catalog/link-choice.ts';
import type { ListKind } from '../../gateway/ports/link.ts';
import type { Log } from '../../gateway/ports/log.ts';
import { SubscriptionQuota } from '../../gateway/relay/client-subscriptions.ts';
import type { View } from '../../gateway/catalog/view.ts';
import type { Peer } from '@assay-mcp/kit/platform/guarded';
import { InOrder } from '@assay-mcp/kit/platform/in-order';
import { LineSplitter } from '@assay-mcp/kit/platform/lines';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import { MODERN_VERSION, type Era } from '@assay-mcp/protocol/eras';
import type { Message, NoMessage, RequestMessage } from '@assay-mcp/protocol/message';
import { buildNotification, buildResultMessage, serializeResult } from '@assay-mcp/protocol/reply';
import { findMember, readRawValue } from '@assay-mcp/protocol/spans';
import { handleRequest, type Outcome, toRefusalOutcome } from './handle-request.ts';
import type { Caller, Relay } from '../../gateway/relay/call.ts';
import { InFlight, OpenRequests } from './in-flight.ts';
import { waitUntilProcessed, InputBuffer } from './input-buffer.ts';
import * as rules from './legacy-rules.ts';
import { findEnvelopeFault, isEnveloped, UNOPENED } from './modern-rules.ts';
import { readBatch, readFromClient } from './read-message.ts';
import { buildInitializeResult } from './self.ts';
import { introduce, StdioClient, StdioOutput } from './stdio-client.ts';
import { Subscription } from './subscription.ts';

export interface StdioServerOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly relay: Relay;
  readonly view: View;
  readonly settings: Settings;
  readonly limits?: Partial<Pick<FixedLimits, 'unreadBytes' | 'subscriptionsPerClient'>> | undefined;
  readonly log: Log;
  readonly sole: SoleClient;
  /** Set for a client whose own process only passes its messages on to this one. */
  readonly attached?: AttachedClient | undefined;
  /** Aborted when Assay is asked to stop. */
  readonly stopping: AbortSignal;
}

/** Time limit in ms for sending finished answers. */
const ANSWER_MS = 1_000;
/** Time limit in ms for the client to read the remaining output. */
const FLUSH_MS = 2_000;

/**
 * Speaks MCP of both eras on a pair of streams. Resolves when the client has closed its side or Assay is asked to stop,
 * and all requests are answered, or refused after `limits.drainMs`.
 */
export async function runStdioServer(options: StdioServerOptions): Promise<void> {
  const server = new StdioServer(options);
  await server.run();
}

/** The client before it has introduced itself. */
const LOCAL_CALLER = { clientInfo: undefined, logLevel: undefined } as const;

const ID_IN_USE: Refusal = { code: 'MESSAGE_INVALID', reason: 'a request with this id is in progress' };

class StdioServer {
  /** Its only client, in either era. Random, because approvals for a session outlive the process in the store. */
  readonly #id: string;
  readonly #options: StdioServerOptions;
  readonly #maxUnreadBytes: number;
  readonly #output: StdioOutput;
  readonly #inFlight = new InFlight();
  readonly #subscriptions = new Map<string, Subscription>();
  readonly #open = new Set<Promise<void>>();
  /** Covers everything that the client subscribes to, in either era. */
  readonly #quota: SubscriptionQuota;
  readonly #openRequests = new OpenRequests();
  /** Set by a legacy handshake. */
  #legacy: StdioClient | undefined;
  #isIntroduced = false;

  constructor(options: StdioServerOptions) {
    this.#id = options.attached?.id ?? randomUUID();
    const own = options.view.forClient(() => this.#id);
    const view = own.forCaller(LOCAL_USER.subject, { isLasting: true });
    this.#options = { ...options, view };
    const { output, log } = options;
    const limits = { ...FIXED_LIMITS, ...options.limits };
    this.#maxUnreadBytes = limits.unreadBytes;
    this.#output = new StdioOutput({ output, maxUnreadBytes: this.#maxUnreadBytes, log });
    this.#quota = new SubscriptionQuota(limits.subscriptionsPerClient);
  }

  async run(): Promise<void> {
    const { input, output, settings, view, stopping } = this.#options;
    const maxBodyBytes = settings['limits.bodyBytes'];
    const maxBytes = this.#maxUnreadBytes;
    const take = (line: Buffer): Promise<void> | undefined => this.#receive(line);
    const peer: Peer = { name: 'stdio client', end: () => void input.destroy() };
    const messages = new InOrder({ take, hold: (isHeld) => inputBuffer.hold(isHeld), peer });
    const lines = new LineSplitter(maxBodyBytes, {
      line: (line) => messages.push(line),
      tooLong: () =>
        this.#refuse(undefined, 'legacy', { code: 'MESSAGE_TOO_LARGE', limitBytes: maxBodyBytes }),
    });
    this.#options.sole.shows = (server) => view.servers.some(({ spec }) => spec.name === server);
    const unsubscribe = view.onChange((kinds) => this.#changed(kinds));
    const inputBuffer = new InputBuffer({ input, output, peer, maxBytes }, (chunk) => lines.push(chunk));
    await new Promise<void>((resolve) => {
      for (const event of ['end', 'error', 'close']) input.once(event, () => resolve());
      // The reader of our output is gone; the rest is dropped.
      output.on('error', () => resolve());
      stopping.addEventListener('abort', () => resolve());
      if (stopping.aborted) resolve();
    });
    await waitUntilProcessed(inputBuffer, messages, () => input.readableEnded && lines.end());
    // A client that closed its side sends no more answers.
    if (!stopping.aborted) this.#legacy?.forwarded.end();
    // A signal after the client closed its side ends the wait early, for our servers too.
    await this.#openRequests.drain(settings['limits.drainMs'], stopping.aborted ? undefined : stopping);
    await waitAtMost(this.#answered(), ANSWER_MS);
    unsubscribe();
    for (const subscription of this.#subscriptions.values()) subscription.finish();
    this.#legacy?.subscriptions.end();
    this.#inFlight.cancelAll();
    this.#legacy?.forwarded.end();
    view.forget(this.#id, true);
    await waitAtMost(this.#output.flushed(), FLUSH_MS);
  }

  async #answered(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  #receive(line: Buffer): Promise<void> | undefined {
    if (line.toString('latin1', 0, 64).trimStart().startsWith('[')) return this.#receiveBatch(line);
    const message = readFromClient(line);
    if (message instanceof Promise) return message.then((read) => this.#dispatch(read));
    this.#dispatch(message);
    return undefined;
  }

  #dispatch(message: Message | NoMessage): void {
    if (message.kind === 'none')
      this.#refuse(message.idText, this.#era(), rules.toInvalidMessageRefusal(message));
    else if (message.kind === 'request') this.#track(this.#answer(message), message);
    else this.#receiveOneWay(message);
  }

  /** Before a handshake the client is assumed to be modern; modern errors have no null id. */
  #era(): Era {
    return this.#legacy === undefined ? 'modern' : 'legacy';
  }

  #receiveOneWay(message: Exclude<Message, RequestMessage>): void {
    if (message.kind === 'response') {
      this.#legacy?.forwarded.receive(message);
      return undefined;
    }
    const legacy = this.#legacy;
    if (legacy === undefined) rules.handleCancelled(message, this.#inFlight);
    else
      rules.handleNotification(message, {
        view: legacy.view,
        session: legacy,
        forwarded: legacy.forwarded,
        inFlight: this.#inFlight,
      });
    const id = findMember(message.params, 'requestId');
    if (message.method !== 'notifications/cancelled' || id === undefined) return;
    const key = readRawValue(message.bytes, id);
    this.#subscriptions.get(key)?.cancel();
    this.#subscriptions.delete(key);
  }

  /** Sends the response once it is ready. A cancelled request gets none. */
  #track(answering: Promise<Outcome | undefined>, message: RequestMessage | undefined): void {
    const tracked = answering
      .then((outcome) => {
        if (outcome !== undefined) this.#output.send(outcome.pieces);
      })
      .catch((error: unknown) => {
        this.#options.log.error('a request failed inside Assay', {
          error: error instanceof Error ? error.stack : String(error),
        });
        this.#refuse(message?.idText, this.#era(), { code: 'INTERNAL' });
      })
      .finally(() => this.#open.delete(tracked));
    this.#open.add(tracked);
  }

  async #answer(message: RequestMessage): Promise<Outcome | undefined> {
    const { relay, view } = this.#options;
    const { idText } = message;
    if (this.#openRequests.isStopping)
      return toRefusalOutcome(idText, this.#era(), { code: 'SHUTTING_DOWN' });
    if (isEnveloped(message)) {
      const fault = findEnvelopeFault(message);
      if (fault !== undefined) return toRefusalOutcome(idText, 'modern', fault);
      if (!this.#isIntroduced)
        introduce(this.#options, readModernProfile(message, LOCAL_USER.subject), {
          revision: MODERN_VERSION,
        });
      this.#isIntroduced = true;
      if (message.method === 'subscriptions/listen') return this.#listen(message);
      const { attached } = this.#options;
      const connectionId = this.#id;
      return this.#handle(message, { ...LOCAL_CALLER, era: 'modern', relay, view, connectionId, attached });
    }
    if (message.method === 'initialize') return this.#initialize(message);
    // Both sides may ping before the handshake (2025-11-25, basic/lifecycle#initialization).
    if (message.method === 'ping' && this.#legacy === undefined)
      return { pieces: [buildResultMessage(idText, Buffer.from('{}'))], status: 200 };
    // A legacy client must begin with `initialize`; only enveloped requests work without it.
    if (this.#legacy === undefined) return toRefusalOutcome(idText, 'modern', UNOPENED);
    return this.#handle(message, this.#legacy);
  }

  #initialize(message: RequestMessage): Outcome {
    const { relay, view } = this.#options;
    const version = rules.negotiateVersion(message);
    if (!version.ok) return toRefusalOutcome(message.idText, 'legacy', version.error);
    const profile = rules.readLegacyProfile(message, LOCAL_USER.subject);
    // A client that repeats the handshake has forgotten earlier server requests.
    this.#legacy?.forwarded.end();
    this.#legacy?.subscriptions.end();
    this.#legacy = new StdioClient({
      attached: this.#options.attached,
      id: this.#id,
      relay,
      view,
      profile,
      version: version.value,
      send: this.#output.notify,
      quota: this.#quota,
      questionMs: this.#options.settings['limits.questionMs'],
    });
    introduce(this.#options, profile, { revision: version.value, session: this.#legacy });
    const result = serializeResult(
      'initialize',
      'legacy',
      buildInitializeResult({ view, tasks: relay.deps.tasks }, version.value),
    );
    return { pieces: [buildResultMessage(message.idText, result)], status: 200 };
  }

  async #handle(message: RequestMessage, caller: Caller): Promise<Outcome | undefined> {
    const limit = this.#options.settings['limits.requestsPerClient'];
    if (this.#inFlight.size >= limit)
      return toRefusalOutcome(message.idText, caller.era, { code: 'CLIENT_BUSY', limit });
    const cancellation = this.#inFlight.begin(message.idText);
    if (cancellation === undefined) return toRefusalOutcome(message.idText, caller.era, ID_IN_USE);
    const openId = this.#openRequests.begin(cancellation);
    try {
      const notify = (bytes: Buffer): void => void this.#output.notify(bytes);
      const channel = { cancellation, notify, ask: caller.session?.ask };
      const outcome = await handleRequest({ caller, identity: LOCAL_USER, message, ...channel });
      if (this.#openRequests.isGivenUp(cancellation))
        return toRefusalOutcome(message.idText, caller.era, { code: 'SHUTTING_DOWN' });
      return cancellation.isCancelled ? undefined : outcome;
    } finally {
      this.#inFlight.end(message.idText);
      this.#openRequests.end(openId);
    }
  }

  #listen(message: RequestMessage): Outcome | undefined {
    const { relay, view, settings } = this.#options;
    const { idText } = message;
    if (this.#subscriptions.has(idText)) return toRefusalOutcome(idText, 'modern', ID_IN_USE);
    const limit = settings['limits.requestsPerClient'];
    if (this.#inFlight.size + this.#subscriptions.size >= limit)
      return toRefusalOutcome(idText, 'modern', { code: 'CLIENT_BUSY', limit });
    const send = (bytes: Buffer): void => void this.#output.notify(bytes);
    const { subject } = LOCAL_USER;
    const opened = Subscription.open({ relay, view, subject, message, quota: this.#quota, send });
    if (!opened.ok) return toRefusalOutcome(idText, 'modern', opened.error);
    this.#subscriptions.set(idText, opened.value);
    return undefined;
  }

  /** A batch is answered by an array (JSON-RPC 2.0, section 6). */
  async #receiveBatch(line: Buffer): Promise<void> {
    const read = await readBatch(line);
    if (!read.ok) {
      this.#refuse(undefined, this.#era(), read.error);
      return;
    }
    const messages = read.value;
    const reason = rules.findBatchFault(messages, this.#legacy?.version ?? MODERN_VERSION);
    if (reason !== undefined) {
      this.#refuse(undefined, this.#era(), { code: 'MESSAGE_INVALID', reason });
      return;
    }
    this.#track(this.#answerBatch(messages), undefined);
  }

  async #answerBatch(messages: readonly (Message | NoMessage)[]): Promise<Outcome | undefined> {
    const answers = messages.map((message): Promise<Outcome | undefined> => {
      if (message.kind === 'request') return this.#answer(message);
      if (message.kind === 'none')
        return Promise.resolve(
          toRefusalOutcome(message.idText, 'legacy', rules.toInvalidMessageRefusal(message)),
        );
      this.#receiveOneWay(message);
      return Promise.resolve(undefined);
    });
    const outcomes = (await Promise.all(answers)).filter((outcome) => outcome !== undefined);
    const pieces = outcomes.flatMap((outcome, index) => [
      Buffer.from(index === 0 ? '[' : ','),
      ...outcome.pieces,
    ]);
    return outcomes.length === 0 ? undefined : { pieces: [...pieces, Buffer.from(']')], status: 200 };
  }

  #changed(kinds: readonly ListKind[]): void {
    if (this.#legacy === undefined) return;
    for (const method of new Set(kinds.map((kind) => rules.LIST_CHANGED[kind])))
      this.#output.notify(buildNotification(method));
  }

  #refuse(idText: string | undefined, era: Era, what: Refusal): void {
    this.#output.send(toRefusalOutcome(idText, era, what).pieces);
  }
}
