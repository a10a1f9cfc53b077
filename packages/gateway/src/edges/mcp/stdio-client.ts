import type { Writable } from 'node:stream';
import { LOCAL_USER } from '../../core/subject.ts';
import type { AttachedClient, ClientSession, SoleClient } from '../../gateway/catalog/client-session.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type { ClientProfile, ServerRequest } from '../../gateway/ports/link.ts';
import type { SubscriptionQuota, ClientSubscriptions } from '../../gateway/relay/client-subscriptions.ts';
import type { View } from '../../gateway/catalog/view.ts';
import type { NotificationMessage } from '@assay-mcp/protocol/message';
import { toOneLine } from '@assay-mcp/protocol/splice';
import { wantsLog } from './handle-request.ts';
import type { Caller, Relay } from '../../gateway/relay/call.ts';
import { createLegacySubscriptions } from './legacy-subscriptions.ts';
import { ForwardedRequests, type Send } from './forwarded-requests.ts';

interface StdioClientOptions {
  /** Identifies the client among all that use the store. */
  readonly id: string;
  readonly relay: Relay;
  readonly view: View;
  readonly profile: ClientProfile;
  readonly version: string;
  readonly send: Send;
  readonly quota: SubscriptionQuota;
  /** Time limit in ms for answering a server request. */
  readonly questionMs: number;
  readonly attached: AttachedClient | undefined;
}

/** The legacy client on stdio. It has one session, begun by its only handshake. */
export class StdioClient implements Caller, ClientSession {
  readonly id: string;
  readonly era = 'legacy';
  readonly subject: string = LOCAL_USER.subject;
  readonly relay: Relay;
  readonly view: View;
  readonly profile: ClientProfile;
  readonly clientInfo: string | undefined;
  readonly version: string;
  readonly attached: AttachedClient | undefined;
  readonly forwarded: ForwardedRequests;
  readonly subscriptions: ClientSubscriptions;
  logLevel: string | undefined;
  readonly #send: Send;

  constructor({ id, relay, view, profile, version, send, quota, questionMs, attached }: StdioClientOptions) {
    this.attached = attached;
    this.id = id;
    this.relay = relay;
    this.view = view;
    this.profile = profile;
    this.clientInfo = profile.clientInfo;
    this.version = version;
    this.#send = send;
    this.subscriptions = createLegacySubscriptions(
      { relay, view, quota, session: this, attached },
      (_, bytes) => void send(bytes),
    );
    this.forwarded = new ForwardedRequests({ capabilities: profile.capabilities, limitMs: questionMs });
  }

  get session(): this {
    return this;
  }

  readonly ask = (serverRequest: ServerRequest): void => this.forwarded.ask(serverRequest, this.#send);

  notify(note: NotificationMessage): void {
    if (note.method !== 'notifications/message' || wantsLog(note, 'legacy', this.logLevel))
      this.#send(note.bytes);
  }
}

interface StdioOutputOptions {
  readonly output: Writable;
  /** Maximum unread bytes before notifications are dropped. */
  readonly maxUnreadBytes: number;
  readonly log: Log;
}

const LINE_FEED: Buffer = Buffer.from('\n');

/** Sends messages to the stdio client, one per line. */
export class StdioOutput {
  readonly #options: StdioOutputOptions;
  #hasMissed = false;

  constructor(options: StdioOutputOptions) {
    this.#options = options;
  }

  /**
   * Sends a message that is not a response. It is dropped if the client does not read, which limits the bytes queued.
   */
  readonly notify = (bytes: Buffer): boolean => {
    const { output, maxUnreadBytes, log } = this.#options;
    if (output.writableLength < maxUnreadBytes) {
      this.send([bytes]);
      return true;
    }
    if (!this.#hasMissed) log.warn('notifications to the client are dropped, as it does not read');
    this.#hasMissed = true;
    return false;
  };

  send(pieces: readonly Buffer[]): void {
    const { output } = this.#options;
    if (output.destroyed || output.writableEnded) return;
    output.cork();
    for (const piece of pieces) output.write(toOneLine(piece));
    output.write(LINE_FEED);
    process.nextTick(() => output.uncork());
  }

  /** Resolves when the client has read everything. */
  flushed(): Promise<void> {
    const { output } = this.#options;
    if (output.destroyed) return Promise.resolve();
    return new Promise((resolve) => output.write('', () => resolve()));
  }
}

/** Announces the client to the servers opened on its behalf, and to the log. */
export function introduce(
  { sole, relay, view }: { readonly sole: SoleClient; readonly relay: Relay; readonly view: View },
  profile: ClientProfile,
  { revision, session }: { readonly revision: string; readonly session?: StdioClient },
): void {
  sole.introduce(profile, session);
  const { clientInfo: client, subject } = profile;
  const stdio = { transport: 'stdio', endpoint: view.endpoint, isStateless: false } as const;
  relay.deps.telemetry?.traffic?.connected({ ...stdio, client, revision, subject });
}
