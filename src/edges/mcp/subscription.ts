import { OWN_INFO } from '../../core/identity.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { ListKind } from '../../gateway/ports.ts';
import { TASKS_MISSING } from '../../gateway/task-requests.ts';
import type { View } from '../../gateway/view.ts';
import { jsonFault, type RequestMessage } from '../../protocol/message.ts';
import { notificationText, resultMessage } from '../../protocol/reply.ts';
import { declaresTasks } from '../../protocol/tasks.ts';
import { LIST_CHANGED } from './legacy-rules.ts';

type Filter = Partial<Record<'toolsListChanged' | 'promptsListChanged' | 'resourcesListChanged', true>>;

const FIELDS: Readonly<Record<ListKind, keyof Filter>> = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
  resourceTemplates: 'resourcesListChanged',
};

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

export interface SubscriptionOptions {
  readonly view: View;
  readonly message: RequestMessage;
  readonly send: (bytes: Buffer) => void;
}

/**
 * One `subscriptions/listen` of a modern client. It first acknowledges what it will tell, then tells of that alone,
 * each time under the id of the request (2026-07-28, basic/patterns/subscriptions).
 */
export class Subscription {
  readonly #idText: string;
  readonly #send: (bytes: Buffer) => void;
  readonly #unsubscribe: () => void;

  private constructor({ view, message, send }: SubscriptionOptions, filter: Filter) {
    this.#idText = message.idText;
    this.#send = send;
    const params = `{"_meta":${this.#meta()},"notifications":${JSON.stringify(filter)}}`;
    send(notificationText('notifications/subscriptions/acknowledged', params));
    this.#unsubscribe = view.onChange((kinds) => {
      const wanted = kinds.filter((kind) => filter[FIELDS[kind]] === true);
      for (const method of new Set(wanted.map((kind) => LIST_CHANGED[kind])))
        send(notificationText(method, `{"_meta":${this.#meta()}}`));
    });
  }

  static open(options: SubscriptionOptions): Result<Subscription, Refusal> {
    const filter = filterOf(options.message);
    return filter.ok ? ok(new Subscription(options, filter.value)) : filter;
  }

  /** The client has gone, or wants no more. */
  cancel(): void {
    this.#unsubscribe();
  }

  /** Assay ends it: the empty result says that this is in good order. */
  finish(): void {
    this.#unsubscribe();
    const meta = this.#meta(`,"io.modelcontextprotocol/serverInfo":${JSON.stringify(OWN_INFO)}`);
    this.#send(resultMessage(this.#idText, Buffer.from(`{"resultType":"complete","_meta":${meta}}`)));
  }

  /** With the id as the client wrote it, which as a number may be more than numbers can hold. */
  #meta(more = ''): string {
    return `{"${SUBSCRIPTION_ID}":${this.#idText}${more}}`;
  }
}

function filterOf(message: RequestMessage): Result<Filter, Refusal> {
  const { bytes, params } = message;
  const reason = jsonFault(message);
  if (reason !== undefined) return err({ code: 'MESSAGE_NOT_JSON', reason });
  const given = (
    JSON.parse(bytes.toString('utf8', params?.start ?? 0, params?.end ?? 0) || '{}') as {
      notifications?: unknown;
    }
  ).notifications;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return err({ code: 'PARAMS_INVALID', field: 'params.notifications', reason: 'it must be an object' });
  const wishes = given as Readonly<Record<string, unknown>>;
  if (wishes['taskIds'] !== undefined && !declaresTasks(message)) return err(TASKS_MISSING);
  const filter: Filter = {};
  for (const field of new Set(Object.values(FIELDS))) {
    const wish = wishes[field];
    if (wish !== undefined && typeof wish !== 'boolean')
      return err({
        code: 'PARAMS_INVALID',
        field: `params.notifications.${field}`,
        reason: 'it must be true or false',
      });
    if (wish === true) filter[field] = true;
  }
  return ok(filter);
}
