import { Cancellation } from '@assay-mcp/kit/cancellation';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import { buildOwnUpstreamRequest, type UpstreamRequest, type Reply } from '../../gateway/ports/link.ts';
import { pause } from '@assay-mcp/kit/platform/pause';
import { isParsable, buildOwnRequest, type NotificationMessage } from '@assay-mcp/protocol/message';
import { LISTEN } from './pending.ts';
import { isJsonObject, parseObject } from '@assay-mcp/kit/json-object';

/** The notification filter, as defined by the specification. */
export interface Filter {
  readonly toolsListChanged?: true;
  readonly promptsListChanged?: true;
  readonly resourcesListChanged?: true;
  readonly resourceSubscriptions?: readonly string[];
}

export interface ListenStreamOptions {
  readonly filter: Filter;
  readonly ask: (request: UpstreamRequest) => Promise<Result<Reply, Refusal>>;
  readonly onNotification: (note: NotificationMessage) => void;
  /** Closed once the new stream is ready, so that no notification is lost between them or sent by both afterwards. */
  readonly replaces: ListenStream | undefined;
}

/** `uris` is undefined if the stream is open but was not acknowledged. */
export type Opened =
  | { readonly kind: 'standing'; readonly uris: ReadonlySet<string> | undefined }
  | { readonly kind: 'over'; readonly answer: Result<Reply, Refusal> };

/** Time in ms a server has to acknowledge a stream. */
const ACKNOWLEDGE_MS = 5_000;

/** One `subscriptions/listen` request to a modern server, until it ends. */
export class ListenStream {
  readonly filter: Filter;
  /** Resolves when the server has acknowledged the stream or used up its time, or when the stream ends early. */
  readonly opened: Promise<Opened>;
  readonly ended: Promise<Result<Reply, Refusal>>;
  hasEnded = false;
  readonly #cancellation = new Cancellation();

  constructor({ filter, ask, onNotification, replaces }: ListenStreamOptions) {
    this.filter = filter;
    const opened = Promise.withResolvers<Opened>();
    this.opened = opened.promise;
    const patience = new AbortController();
    const stand = (uris: ReadonlySet<string> | undefined): void => {
      patience.abort();
      replaces?.close();
      opened.resolve({ kind: 'standing', uris });
    };
    const request = buildOwnRequest(LISTEN, { notifications: filter });
    this.ended = ask({
      ...buildOwnUpstreamRequest(request, Infinity, this.#cancellation),
      onNotification: (note) => {
        if (note.method === ACKNOWLEDGED) stand(acknowledgedUris(note));
        else onNotification(note);
      },
    }).then((answer) => {
      this.hasEnded = true;
      patience.abort();
      opened.resolve({ kind: 'over', answer });
      return answer;
    });
    void pause(ACKNOWLEDGE_MS, patience.signal).then(() => {
      if (!patience.signal.aborted) stand(undefined);
    });
  }

  close(): void {
    this.#cancellation.cancel();
  }
}

const ACKNOWLEDGED = 'notifications/subscriptions/acknowledged';

function acknowledgedUris(note: NotificationMessage): ReadonlySet<string> {
  if (!isParsable(note)) return NONE;
  const { bytes, params } = note;
  const { notifications } = parseObject(bytes.toString('utf8', params?.start, params?.end));
  const uris = isJsonObject(notifications) ? notifications['resourceSubscriptions'] : undefined;
  return new Set(Array.isArray(uris) ? uris.filter((uri) => typeof uri === 'string') : []);
}

const NONE: ReadonlySet<string> = new Set();
