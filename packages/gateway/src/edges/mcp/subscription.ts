import { Cancellation } from '@assay-mcp/kit/cancellation';
import { OWN_INFO } from '@assay-mcp/kit/version';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ListKind } from '../../gateway/ports/link.ts';
import type { UpdateListener } from '../../gateway/catalog/resource-subscriptions.ts';
import { type SubscriptionQuota, ClientSubscriptions } from '../../gateway/relay/client-subscriptions.ts';
import { TASKS_MISSING } from '../../gateway/relay/task-requests.ts';
import type { View } from '../../gateway/catalog/view.ts';
import type { Relay } from '../../gateway/relay/call.ts';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import type { RequestMessage } from '@assay-mcp/protocol/message';
import { buildNotificationText, buildResultMessage } from '@assay-mcp/protocol/reply';
import { declaresTasks } from '@assay-mcp/protocol/tasks';
import { SUBSCRIPTION_ID, setSubscriptionId } from '@assay-mcp/protocol/translate';
import { LIST_CHANGED, RESOURCE_UPDATED } from './legacy-rules.ts';
import { findOwnFault } from './read-message.ts';

/** Time limit in ms for servers to accept subscriptions, before the client gets its acknowledgement. */
const ACKNOWLEDGE_MS = 5_000;

interface SubscriptionOptions {
  readonly relay: Relay;
  readonly view: View;
  readonly message: RequestMessage;
  /** The client's quota across all its subscriptions. */
  readonly quota: SubscriptionQuota;
  readonly subject: string;
  readonly send: (bytes: Buffer) => void;
}

/**
 * One `subscriptions/listen` of a modern client. It first acknowledges what it covers, then sends only those
 * notifications, each with the id of the request (2026-07-28, basic/patterns/subscriptions).
 */
export class Subscription {
  readonly #idText: string;
  readonly #filter: Filter;
  readonly #subscriptions: ClientSubscriptions;
  /** Cancelled when the wait for servers ends. One per resource, because each has its own listener. */
  readonly #waiting: ReadonlyMap<string, Cancellation>;
  readonly #unsubscribe: () => void;
  #send: (bytes: Buffer) => void;
  /** Notifications held until the acknowledgement, which must come first. Undefined afterwards. */
  #held: HeldNotifications | undefined = new HeldNotifications();

  private constructor(options: SubscriptionOptions, filter: Filter) {
    const { relay, message, view, subject, quota, send } = options;
    this.#idText = message.idText;
    this.#filter = filter;
    this.#waiting = new Map(filter.uris.map((uri) => [uri, new Cancellation()]));
    this.#send = send;
    this.#unsubscribe = view.onChange((kinds) => this.#changed(kinds));
    const onUpdate: UpdateListener = (uri, note) => {
      const own = (): Buffer =>
        buildNotificationText(RESOURCE_UPDATED, `{"_meta":${this.#meta()},"uri":${JSON.stringify(uri)}}`);
      this.#notify(uri, note === undefined ? own() : setSubscriptionId(note, this.#idText), own);
    };
    const client = { era: 'modern', message, subject, clientInfo: undefined } as const;
    this.#subscriptions = new ClientSubscriptions({ relay, view, quota, client, onUpdate });
    if (filter.uris.length === 0) this.#acknowledge([]);
    else void this.#open();
  }

  /** SUBSCRIPTION_LIMIT: the client would exceed its quota of resources. */
  static open(options: SubscriptionOptions): Result<Subscription, Refusal> {
    const { message, quota } = options;
    const filter = filterOf(message);
    if (!filter.ok) return filter;
    return quota.has(filter.value.uris.length)
      ? ok(new Subscription(options, filter.value))
      : err({ code: 'SUBSCRIPTION_LIMIT', limit: quota.limit });
  }

  /** The client has left or cancelled. Nothing more is sent. */
  cancel(): void {
    this.#send = () => undefined;
    this.#stopWaiting();
    this.#unsubscribe();
    this.#subscriptions.end();
  }

  /** Assay ends the subscription; an empty result marks a regular end. */
  finish(): void {
    if (this.#held !== undefined) this.#acknowledge([]);
    const meta = this.#meta(`,"io.modelcontextprotocol/serverInfo":${JSON.stringify(OWN_INFO)}`);
    this.#send(buildResultMessage(this.#idText, Buffer.from(`{"resultType":"complete","_meta":${meta}}`)));
    this.cancel();
  }

  /** Subscribes to all resources in parallel. Those that no server accepts in time are left out. */
  async #open(): Promise<void> {
    const honoured = new Set<string>();
    const asked = [...this.#waiting].map(async ([uri, waiting]) => {
      const answer = await this.#subscriptions.subscribe(uri, waiting);
      if (answer.kind === 'honoured') honoured.add(uri);
    });
    await waitAtMost(Promise.all(asked), ACKNOWLEDGE_MS);
    this.#stopWaiting();
    if (this.#held !== undefined) this.#acknowledge(this.#filter.uris.filter((uri) => honoured.has(uri)));
  }

  #stopWaiting(): void {
    for (const waiting of this.#waiting.values()) waiting.cancel();
  }

  #acknowledge(uris: readonly string[]): void {
    const { lists, uris: wanted } = this.#filter;
    const agreed = new Set(uris);
    for (const uri of wanted) if (!agreed.has(uri)) this.#subscriptions.unsubscribe(uri);
    const notifications = JSON.stringify({
      ...lists,
      ...(uris.length > 0 && { resourceSubscriptions: uris }),
    });
    const params = `{"_meta":${this.#meta()},"notifications":${notifications}}`;
    this.#send(buildNotificationText('notifications/subscriptions/acknowledged', params));
    const held = this.#held?.take() ?? [];
    this.#held = undefined;
    for (const [topic, bytes] of held) if (agreed.has(topic) || IS_LIST.has(topic)) this.#send(bytes);
  }

  #changed(kinds: readonly ListKind[]): void {
    const wanted = kinds.filter((kind) => this.#filter.lists[LIST_FIELDS[kind]] === true);
    for (const method of new Set(wanted.map((kind) => LIST_CHANGED[kind]))) {
      const bytes = buildNotificationText(method, `{"_meta":${this.#meta()}}`);
      this.#notify(method, bytes, () => bytes);
    }
  }

  #notify(topic: string, bytes: Buffer, whole: () => Buffer): void {
    if (this.#held === undefined) this.#send(bytes);
    else this.#held.keep(topic, bytes, whole);
  }

  /** Copies the id as the client wrote it; a JavaScript number could not hold every id. */
  #meta(more = ''): string {
    return `{"${SUBSCRIPTION_ID}":${this.#idText}${more}}`;
  }
}

const IS_LIST: ReadonlySet<string> = new Set(Object.values(LIST_CHANGED));

type ListField = 'toolsListChanged' | 'promptsListChanged' | 'resourcesListChanged';

/** The notifications that a modern client subscribes to. */
interface Filter {
  readonly lists: Partial<Readonly<Record<ListField, true>>>;
  /** Without duplicates. */
  readonly uris: readonly string[];
}

const LIST_FIELDS: Readonly<Record<ListKind, ListField>> = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
  resourceTemplates: 'resourcesListChanged',
};

/** The filter of a `subscriptions/listen` (2026-07-28, basic/patterns/subscriptions#notification-filter). */
function filterOf(message: RequestMessage): Result<Filter, Refusal> {
  const { bytes, params } = message;
  const fault = findOwnFault(message);
  if (fault !== undefined) return err(fault);
  const given = (
    JSON.parse(bytes.toString('utf8', params?.start ?? 0, params?.end ?? 0) || '{}') as {
      notifications?: unknown;
    }
  ).notifications;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return err({ code: 'PARAMS_INVALID', field: 'params.notifications', reason: 'it must be an object' });
  const fields = given as Readonly<Record<string, unknown>>;
  if (fields['taskIds'] !== undefined && !declaresTasks(message)) return err(TASKS_MISSING);
  const lists: Partial<Record<ListField, true>> = {};
  for (const field of new Set(Object.values(LIST_FIELDS))) {
    const value = fields[field];
    if (value !== undefined && typeof value !== 'boolean') return wrong(field, 'it must be true or false');
    if (value === true) lists[field] = true;
  }
  const uris = fields['resourceSubscriptions'] ?? [];
  return isTexts(uris)
    ? ok({ lists, uris: [...new Set(uris)] })
    : wrong('resourceSubscriptions', 'it must be a list of URIs');
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function wrong(field: string, reason: string): Result<never, Refusal> {
  return err({ code: 'PARAMS_INVALID', field: `params.notifications.${field}`, reason });
}

/** Notifications held until the client can receive them: at most one per topic, so the number of topics limits them. */
class HeldNotifications {
  #kept = new Map<string, Buffer>();

  /** If another notification on the topic is held already, `whole` says that all of it may have changed. */
  keep(topic: string, bytes: Buffer, whole: () => Buffer): void {
    const kept = this.#kept.get(topic);
    this.#kept.set(topic, kept === undefined || kept.equals(bytes) ? bytes : whole());
  }

  /** Removes and returns the held notifications by topic, in order of first arrival. */
  take(): ReadonlyMap<string, Buffer> {
    const kept = this.#kept;
    this.#kept = new Map();
    return kept;
  }
}
