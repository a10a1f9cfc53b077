import { shortenPeerText } from '../../core/bounded-refusal.ts';
import type { AuditEvent } from '../../core/audit-event.ts';
import { NO_LABELS, SESSION_LABELS, type SessionLabel } from '../../core/policy/policy.ts';
import { BOTH_LABELS, mergeLabels } from '../../core/policy/session-labels.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../core/sentences.ts';
import type { LabelStore, SeenCalls, StoredLabel } from '../ports/labels.ts';
import type { Log } from '../ports/log.ts';
import type { Store } from '../ports/store.ts';
import type { LiveLabels } from './call-deps.ts';

export interface SessionLabelsOptions {
  /** Opens the store, or returns the open one. */
  readonly open: () => Promise<Result<LabelStore & Pick<Store, 'onChange'>, Refusal>>;
  /** Whether labels are kept in the store. False if they have no effect and no store exists yet. */
  readonly isKept: () => boolean;
  /** Labels count for this many ms after the subject's last call. */
  readonly idleMs: () => number;
  readonly nowMs: () => number;
  readonly log: Log;
}

/** The state of a subject with labels. */
interface Labelled {
  labels: ReadonlySet<SessionLabel>;
  /** Those that are not in the store yet. */
  unsaved: readonly StoredLabel[];
  seenMs: number;
  /** `seenMs` as last stored. */
  savedMs: number;
}

/** Maximum number of labelled subjects in memory, and of other callers. */
const MAX_SUBJECTS = 10_000;
/** Interval in ms at which the last calls of labelled subjects are written. */
const SAVE_MS = 60_000;

/**
 * What each subject has seen: in memory, and in the store for other replicas and for the next start. A label belongs to
 * the subject, so another session or process does not end it.
 */
export class SessionLabels implements LiveLabels {
  readonly #options: SessionLabelsOptions;
  readonly #subjects = new Map<string, Labelled>();
  /** Callers that may have labels only in the store, with the times of calls not yet written there. */
  readonly #callers = new Map<string, { readonly firstMs: number; lastMs: number }>();
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> | undefined;
  /** The save after that one, shared by all that request one meanwhile. */
  #queued: Promise<void> | undefined;
  #endListening: (() => void) | undefined;
  #isReported = false;

  constructor(options: SessionLabelsOptions) {
    this.#options = options;
  }

  of(subject: string): ReadonlySet<SessionLabel> {
    const known = this.#subjects.get(subject);
    if (known === undefined) return this.#isFull ? BOTH_LABELS : NO_LABELS;
    if (!this.#isIdle(known)) return known.labels;
    this.#subjects.delete(subject);
    return NO_LABELS;
  }

  async read(subject: string): Promise<ReadonlySet<SessionLabel>> {
    if (!this.#options.isKept()) return this.of(subject);
    const store = await this.#store();
    const found = store.ok ? await store.value.labels(subject) : store;
    if (!found.ok) {
      this.#report(found.error);
      return BOTH_LABELS;
    }
    const labels = this.#take(subject, found.value.labels);
    return labels === NO_LABELS && found.value.isFull ? BOTH_LABELS : labels;
  }

  calls(subject: string, matters: boolean): void {
    const known = this.#subjects.get(subject);
    if (known !== undefined && !this.#isIdle(known)) known.seenMs = this.#options.nowMs();
    else if (matters) this.#note(subject, this.#options.nowMs());
  }

  add(subject: string, labels: ReadonlySet<SessionLabel>, source: string): Promise<void> | undefined {
    let known = this.#subjects.get(subject);
    if (known !== undefined && this.#isIdle(known)) known = undefined;
    const joined = mergeLabels(known?.labels ?? NO_LABELS, labels);
    if (joined === (known?.labels ?? NO_LABELS))
      return known === undefined || known.unsaved.length === 0 ? undefined : (this.#queued ?? this.#saving);
    const nowMs = this.#options.nowMs();
    const fresh = SESSION_LABELS.filter((label) => joined.has(label) && known?.labels.has(label) !== true);
    const about = { subject, source: shortenPeerText(source), sinceMs: nowMs, seenMs: nowMs };
    const added = fresh.map((label) => ({ ...about, label }));
    if (known === undefined) this.#makeRoom();
    this.#subjects.set(subject, {
      labels: joined,
      unsaved: [...(known?.unsaved ?? []), ...added],
      seenMs: nowMs,
      savedMs: known?.savedMs ?? nowMs,
    });
    this.#saveAtIntervals();
    return this.#save();
  }

  /** All labels that count, oldest first. */
  async list(): Promise<Result<readonly StoredLabel[], Refusal>> {
    await this.#save();
    const store = await this.#options.open();
    const found = store.ok ? await store.value.labels() : store;
    if (!found.ok) return found;
    const unsaved = [...this.#subjects.values()].flatMap((one) => (this.#isIdle(one) ? [] : one.unsaved));
    return ok([...found.value.labels.filter((one) => !this.#isIdle(one)), ...unsaved]);
  }

  /** Removes the labels of a subject. LABELS_UNKNOWN if it has none. */
  async clear(subject: string, by: string): Promise<Result<undefined, Refusal>> {
    await this.#save();
    const store = await this.#options.open();
    if (!store.ok) return store;
    const found = await store.value.labels(subject);
    if (!found.ok) return found;
    const carried = found.value.labels.filter((one) => !this.#isIdle(one)).map(({ label }) => label);
    if (carried.length === 0 && this.of(subject).size === 0) return err({ code: 'LABELS_UNKNOWN', subject });
    const event: AuditEvent = {
      atMs: this.#options.nowMs(),
      subject: by,
      action: 'labels.clear',
      target: { kind: 'subject', id: subject, name: subject },
      before: carried,
    };
    const cleared = await store.value.clearLabels(subject, event);
    if (!cleared.ok) return cleared;
    this.#subjects.delete(subject);
    return ok(undefined);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#endListening?.();
    await this.#save();
  }

  #note(subject: string, nowMs: number): void {
    const noted = this.#callers.get(subject);
    if (noted !== undefined) noted.lastMs = nowMs;
    else if (this.#callers.size < MAX_SUBJECTS) {
      this.#callers.set(subject, { firstMs: nowMs, lastMs: nowMs });
      if (this.#callers.size === MAX_SUBJECTS) void this.#save();
    }
    this.#saveAtIntervals();
  }

  #saveAtIntervals(): void {
    this.#timer ??= setInterval(() => void this.#save(), SAVE_MS).unref();
  }

  /** Opens the store, and follows it from then on. */
  async #store(): ReturnType<SessionLabelsOptions['open']> {
    const store = await this.#options.open();
    if (store.ok && this.#endListening === undefined)
      this.#endListening = store.value.onChange((parts) => {
        if (parts.includes('labels') && this.#subjects.size > 0) void this.#follow(store.value);
      });
    return store;
  }

  /** Other processes may have cleared or added labels of subjects that this one knows. */
  async #follow(store: LabelStore): Promise<void> {
    const found = await store.labels();
    if (!found.ok) return;
    const bySubject = Map.groupBy(found.value.labels, ({ subject }) => subject);
    for (const subject of this.#subjects.keys()) this.#take(subject, bySubject.get(subject) ?? []);
  }

  /** Replaces the labels of a subject with those in the store and those not saved yet. */
  #take(subject: string, stored: readonly StoredLabel[]): ReadonlySet<SessionLabel> {
    const known = this.#subjects.get(subject);
    const noted = this.#callers.get(subject);
    // While the store is unavailable, calls are not written to it.
    const savedMs = known === undefined || this.#isIdle(known) ? Infinity : known.savedMs;
    const aliveMs = Math.min(savedMs, (noted?.firstMs ?? this.#options.nowMs()) - this.#countsMs);
    const counting = stored.filter(({ seenMs }) => seenMs >= aliveMs);
    const unsaved = known?.unsaved ?? [];
    const labels = labelsIn([...counting, ...unsaved]);
    if (labels === NO_LABELS) {
      this.#subjects.delete(subject);
      return NO_LABELS;
    }
    if (known === undefined) this.#makeRoom();
    const storedMs = Math.max(...counting.map(({ seenMs }) => seenMs), known?.savedMs ?? 0);
    const seenMs = Math.max(storedMs, known?.seenMs ?? 0, noted?.lastMs ?? 0);
    this.#subjects.set(subject, { labels, unsaved, savedMs: storedMs, seenMs });
    return labels;
  }

  /** Saves run one after another. What cannot be written is tried again at the next interval. */
  #save(): Promise<void> {
    this.#queued ??= (this.#saving ?? Promise.resolve())
      .then(() => {
        this.#saving = this.#queued;
        this.#queued = undefined;
        return this.#write();
      })
      .catch((error: unknown) => {
        const text = error instanceof Error ? error.stack : String(error);
        this.#options.log.error('session labels could not be written', { error: text });
      });
    return this.#queued;
  }

  async #write(): Promise<void> {
    if (!this.#options.isKept()) return;
    const nowMs = this.#options.nowMs();
    const changed = new Map<string, Labelled>();
    for (const [subject, one] of this.#subjects) {
      if (this.#isIdle(one)) this.#subjects.delete(subject);
      else if (one.unsaved.length > 0 || one.seenMs - one.savedMs >= SAVE_MS) changed.set(subject, one);
    }
    if (changed.size === 0 && this.#callers.size === 0) return;
    const added = [...changed.values()].flatMap(({ unsaved, seenMs }) =>
      unsaved.map((one) => ({ ...one, seenMs })),
    );
    const seen = new Map<string, SeenCalls>();
    for (const [subject, { firstMs, lastMs }] of this.#callers)
      seen.set(subject, { lastMs, aliveMs: firstMs - this.#countsMs });
    for (const [subject, { seenMs }] of changed) seen.set(subject, { lastMs: seenMs, aliveMs: 0 });
    const expiredMs = nowMs - this.#countsMs;
    const store = await this.#store();
    const saved = store.ok ? await store.value.saveLabels({ added, seen, expiredMs }) : store;
    if (!saved.ok) {
      this.#report(saved.error);
      return;
    }
    this.#isReported = false;
    for (const [subject, { lastMs }] of this.#callers)
      if (lastMs <= (seen.get(subject)?.lastMs ?? 0)) this.#callers.delete(subject);
    for (const [subject, before] of changed) {
      const known = this.#subjects.get(subject);
      if (known === undefined) continue;
      known.unsaved = known.unsaved.filter((one) => !before.unsaved.includes(one));
      known.savedMs = Math.max(known.savedMs, seen.get(subject)?.lastMs ?? 0);
    }
  }

  /** Frees memory. Labels that are in the store are read again before they are needed. */
  #makeRoom(): void {
    if (this.#subjects.size < MAX_SUBJECTS) return;
    for (const [subject, one] of this.#subjects)
      if (this.#isIdle(one) || one.unsaved.length === 0) {
        this.#subjects.delete(subject);
        return;
      }
  }

  /**
   * True if the store is unavailable and too many subjects have unsaved labels: any other may have labels that were
   * dropped.
   */
  get #isFull(): boolean {
    return this.#subjects.size >= MAX_SUBJECTS;
  }

  #isIdle({ seenMs }: Pick<Labelled, 'seenMs'>): boolean {
    return this.#options.nowMs() - seenMs > this.#countsMs;
  }

  /** Longer than `idleMs`, because the last calls may not be stored yet. */
  get #countsMs(): number {
    return this.#options.idleMs() + SAVE_MS;
  }

  #report(refusal: Refusal): void {
    if (this.#isReported) return;
    this.#isReported = true;
    this.#options.log.warn('session labels cannot be read or kept in the store', {
      cause: formatRefusal(refusal),
    });
  }
}

function labelsIn(stored: readonly StoredLabel[]): ReadonlySet<SessionLabel> {
  return stored.reduce<ReadonlySet<SessionLabel>>(
    (labels, { label }) => mergeLabels(labels, new Set([label])),
    NO_LABELS,
  );
}
