import { getServerLevel, type ServerStateName } from '@assay-mcp/kit/server-states';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import {
  buildNotice,
  buildTestNotice,
  formatNotifier,
  type Notice,
  NOTICE_SETTINGS,
  type NoticeItem,
  type Notifier,
  type NoticeTopic,
} from '../../core/notices.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { RecordReplica } from '../catalog/record-replica.ts';
import type { ApprovalStore } from '../ports/approvals.ts';
import type { Log } from '../ports/log.ts';
import type { SendNotice } from '../ports/notices.ts';
import type { Store } from '../ports/store.ts';

export interface NoticesOptions {
  readonly targets: ReadonlyMap<NoticeTopic, Notifier>;
  readonly records: RecordReplica;
  readonly store: Pick<ApprovalStore, 'approvals'> & Pick<Store, 'onChange'>;
  readonly listServers: () => readonly { readonly name: string; readonly state: ServerStateName }[];
  /** Tools with a suspended override. The same id as long as the definition does not change again. */
  readonly listSuspended: () => readonly NoticeItem[];
  readonly send: SendNotice;
  /** Where browsers reach the pages. Undefined while that is unknown. */
  readonly pagesUrl: () => string | undefined;
  readonly mask: (text: string) => string;
  readonly log: Pick<Log, 'warn'>;
  readonly nowMs: () => number;
  /** Times in ms to wait before a failed notice is sent again. */
  readonly retryMs?: readonly number[];
}

/** Between two notices of one topic, by all processes on the store. */
export const NOTICE_INTERVAL_MS = 60_000;
/** How long a server is down before that is told. */
export const SERVER_DOWN_MS = 300_000;
/** How long a server that came up counts as recovered: long enough for the next notice. */
const RECOVERED_MS = 2 * NOTICE_INTERVAL_MS;
const TICK_MS = 15_000;
const RETRY_MS: readonly number[] = [1_000, 5_000];
/** Events of a topic that are remembered as told, and approvals that are counted. */
const MAX_KNOWN = 500;

/** What is to be told now. */
interface Current {
  readonly items: readonly NoticeItem[];
  readonly recovered: readonly string[];
  /** Whether an event that was told before may end here unnoticed. */
  readonly isGone: (id: string) => boolean;
}

/**
 * Tells operators of calls that wait, suspended overrides and servers that stay down. A record per topic says when the
 * last notice was sent and what it told: whoever changes that record sends the next one, so of several replicas one
 * does.
 */
export class Notices {
  readonly #options: NoticesOptions;
  readonly #ending: (() => void)[] = [];
  readonly #checking = new Map<NoticeTopic, Promise<void>>();
  readonly #later = new Map<NoticeTopic, NodeJS.Timeout>();
  readonly #downSinceMs = new Map<string, number>();
  /** When a server came up here, by name. */
  readonly #upSinceMs = new Map<string, number>();
  #isClosed = false;

  constructor(options: NoticesOptions) {
    this.#options = options;
  }

  start(): void {
    const { targets, store, records } = this.#options;
    if (targets.size === 0) return;
    this.#ending.push(
      store.onChange((parts) => (parts.includes('approvals') ? void this.check('approvals') : undefined)),
      records.onChange((change) =>
        change.records.some(({ kind }) => kind === 'tool') ? void this.check('overrides') : undefined,
      ),
    );
    const timer = setInterval(() => {
      for (const topic of targets.keys()) void this.check(topic);
    }, TICK_MS).unref();
    this.#ending.push(() => clearInterval(timer));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const end of this.#ending) end();
    for (const timer of this.#later.values()) clearTimeout(timer);
    await Promise.all(this.#checking.values());
  }

  /** Sends a notice if there is something new and the last one was long enough ago. */
  check(topic: NoticeTopic): Promise<void> {
    const notifier = this.#options.targets.get(topic);
    if (notifier === undefined || this.#isClosed) return Promise.resolve();
    const known = this.#checking.get(topic);
    if (known !== undefined) return known;
    const checking = this.#check(topic, notifier).finally(() => this.#checking.delete(topic));
    this.#checking.set(topic, checking);
    return checking;
  }

  /** Sends a test to each target. Its outcome, by setting. */
  async test(): Promise<
    readonly { readonly setting: string; readonly target: string; readonly fault?: string }[]
  > {
    const { targets, send, pagesUrl, nowMs } = this.#options;
    return Promise.all(
      [...targets].map(async ([topic, notifier]) => {
        const sent = await send(notifier, buildTestNotice(topic, pagesUrl(), nowMs()));
        const about = { setting: NOTICE_SETTINGS[topic], target: formatNotifier(notifier) };
        return sent.ok ? about : { ...about, fault: sent.error };
      }),
    );
  }

  async #check(topic: NoticeTopic, notifier: Notifier): Promise<void> {
    const { records } = this.#options;
    const current = await this.#read(topic);
    if (!current.ok) return; // tried again with the next change or tick
    const claimed = await records.change<Notice | undefined>(() => this.#claim(topic, current.value));
    if (!claimed.ok || claimed.value === undefined) return;
    await this.#deliver(topic, notifier, claimed.value);
  }

  /** Runs again if another process was faster; then there is nothing left to tell, or it is too early. */
  #claim(
    topic: NoticeTopic,
    { items, recovered, isGone }: Current,
  ): Result<ReturnType<typeof toEdit>, Refusal> {
    const { records, nowMs, pagesUrl, mask } = this.#options;
    const now = nowMs();
    const { sentMs = 0, known = [] } = records.get('notices', topic) ?? {};
    const told = new Set(known);
    const back = recovered.filter((id) => told.has(id));
    if (items.every(({ id }) => told.has(id)) && back.length === 0) return ok(toEdit());
    // A clock of another machine that is ahead must not hold notices back.
    const waitMs = sentMs + NOTICE_INTERVAL_MS - now;
    if (waitMs > 0 && waitMs <= NOTICE_INTERVAL_MS) {
      this.#checkLater(topic, waitMs);
      return ok(toEdit());
    }
    // Calls that still wait are counted again; what was told of a server or a tool is not repeated.
    const shown = topic === 'approvals' ? items : items.filter(({ id }) => !told.has(id));
    const kept = known.filter((id) => !isGone(id) && !back.includes(id));
    const after = [...new Set([...kept, ...items.map(({ id }) => id)])].slice(-MAX_KNOWN);
    const notice = buildNotice(topic, {
      items: shown,
      recovered: back,
      pagesUrl: pagesUrl(),
      nowMs: now,
      mask,
    });
    return ok(toEdit({ topic, notice, state: { sentMs: now, known: after } }));
  }

  #checkLater(topic: NoticeTopic, waitMs: number): void {
    if (this.#later.has(topic)) return;
    const timer = setTimeout(() => {
      this.#later.delete(topic);
      void this.check(topic);
    }, waitMs).unref();
    this.#later.set(topic, timer);
  }

  async #deliver(topic: NoticeTopic, notifier: Notifier, notice: Notice): Promise<void> {
    const { send, log, retryMs = RETRY_MS } = this.#options;
    let sent = await send(notifier, notice);
    for (const waitMs of retryMs) {
      if (sent.ok || this.#isClosed) break;
      await new Promise((resolve) => setTimeout(resolve, waitMs).unref());
      sent = await send(notifier, notice);
    }
    if (!sent.ok)
      log.warn('a notice could not be sent', { setting: NOTICE_SETTINGS[topic], cause: sent.error });
  }

  #read(topic: NoticeTopic): Promise<Result<Current, Refusal>> {
    if (topic === 'approvals') return this.#readApprovals();
    if (topic === 'servers') return Promise.resolve(ok(this.#readServers()));
    // Another process may list other tools.
    const items = this.#options.listSuspended();
    return Promise.resolve(ok({ items, recovered: [], isGone: () => false }));
  }

  async #readApprovals(): Promise<Result<Current, Refusal>> {
    const { store, nowMs } = this.#options;
    const found = await store.approvals({ state: 'pending', limit: MAX_KNOWN });
    if (!found.ok) return err(found.error);
    const now = nowMs();
    const waiting = found.value.filter(
      ({ expiresMs = Infinity, state }) => state === 'pending' && expiresMs > now,
    );
    const items = waiting.map(({ id, request }) => ({
      id,
      server: request.server,
      tool: request.namespacedName,
    }));
    const ids = new Set(items.map(({ id }) => id));
    return ok({ items, recovered: [], isGone: (id) => !ids.has(id) });
  }

  /** What this process sees: only a server that it sees come up is up again. */
  #readServers(): Current {
    const { listServers, nowMs } = this.#options;
    const now = nowMs();
    const recovered: string[] = [];
    const names = new Set<string>();
    for (const { name, state } of listServers()) {
      names.add(name);
      const level = getServerLevel(state);
      if (level === 'down') {
        if (!this.#downSinceMs.has(name)) this.#downSinceMs.set(name, now);
      } else if (level !== 'pending') this.#downSinceMs.delete(name);
      if (state !== 'up') this.#upSinceMs.delete(name);
      else if (!this.#upSinceMs.has(name)) this.#upSinceMs.set(name, now);
      // Another process may have told that it is down although it has long been up here.
      if (now - (this.#upSinceMs.get(name) ?? -Infinity) <= RECOVERED_MS) recovered.push(name);
    }
    const items = [...this.#downSinceMs].flatMap(([name, sinceMs]) =>
      names.has(name) && now - sinceMs >= SERVER_DOWN_MS ? [{ id: name, server: name }] : [],
    );
    return { items, recovered, isGone: (name) => !names.has(name) };
  }
}

interface Claim {
  readonly topic: NoticeTopic;
  readonly notice: Notice;
  readonly state: { readonly sentMs: number; readonly known: readonly string[] };
}

/** Without a claim, nothing is written. */
function toEdit(claim?: Claim) {
  return claim === undefined
    ? { value: undefined, changes: [] }
    : {
        value: claim.notice,
        changes: [{ kind: 'notices', id: claim.topic, body: claim.state } as const],
      };
}
