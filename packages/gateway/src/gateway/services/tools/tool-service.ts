import type { Decision } from '../../../api/decision.ts';
import type { AuditEvent } from '../../../core/audit-event.ts';
import { HINTS, type Hints } from '@assay-mcp/kit/hint';
import type { LintLevels } from '../../../core/hints/lint.ts';
import { isReviewed, isEmptyRecord, markReviewed, type ToolRecord } from '../../../core/hints/tool-record.ts';
import { findNearest } from '@assay-mcp/kit/nearest';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Catalog } from '../../catalog/catalog.ts';
import { getDeclared, getDeclaredText } from '../../catalog/definition-facts.ts';
import { isUnstored } from '../../catalog/unstored-definitions.ts';
import type { Entry, Listing } from '../../catalog/listing.ts';
import type { Edit } from '../../catalog/record-edit.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';
import type { AcceptedDefinition } from '../../ports/records.ts';
import { getEntryName } from '../toolsets/tool-index.ts';
import { findRecordKey } from '../../catalog/definition-source.ts';
import { createToolRecord } from '../../catalog/drift-detector.ts';
import type { ToolClaims } from '../../catalog/tool-claims.ts';
import { type AssumedCaller, type DecisionBasis, explainDecision } from './explain-decision.ts';
import { findEntry, getToolId } from './find-entry.ts';
import { toAuditedTool, normalizePatch, findDisabling, applyPatch } from './tool-edit.ts';
import type { ToolChange, ToolPatch } from './tool-edit.ts';
import { type GuaranteeBasis, computeToolGuarantee } from './tool-guarantee.ts';
import type { Tool } from '../../../api/tool.ts';
import { getLintFindings, toToolView } from './tool-view.ts';

export interface ToolServiceOptions extends DecisionBasis, GuaranteeBasis {
  readonly catalog: Catalog;
  readonly records: RecordReplica;
  readonly claims: ToolClaims;
  readonly levels: LintLevels;
  /** Masks secrets in a text. */
  readonly mask: (text: string) => string;
  readonly nowMs: () => number;
  /** Resolves when the tools of the servers that a request needs are listed, if they can be. */
  readonly listed: (needed: NeededTools) => Promise<void>;
}

/** The tools that a request needs: all of a server, the one with an id or name, or those of all servers. */
export type NeededTools =
  | {
      readonly server: string | undefined;
      /** Whether a process without a gateway also starts servers whose tools are known. */
      readonly isFresh?: boolean | undefined;
    }
  | { readonly tool: string };

/** Selects tools. Absent members do not restrict. */
export interface ToolFilter {
  readonly server?: string | undefined;
  /** Words that must all occur in the name, title or description. */
  readonly text?: string | undefined;
  readonly enabled?: boolean | undefined;
  /** Effective values. */
  readonly hints?: Readonly<Partial<Hints>> | undefined;
  /** Whether the tool has findings, or the rule that it must violate. */
  readonly lint?: boolean | string | undefined;
  readonly drift?: 'any' | 'dangerous' | 'none' | undefined;
}

export interface PageRequest extends Pick<Extract<NeededTools, { server: unknown }>, 'isFresh'> {
  readonly after?: ToolLocation | undefined;
  readonly limit: number;
}

export interface ToolPage {
  readonly tools: readonly Tool[];
  readonly total: number;
  /** The next page starts after this tool. */
  readonly next?: ToolLocation | undefined;
}

/** The position of a tool among all. Stays usable when the tool is gone. */
export interface ToolLocation {
  readonly id: string;
  readonly index: number;
}

/** The author of a change, and a check of what they saw. */
export interface Changer {
  readonly subject: string;
  /** Refuses if the tool is not as they saw it. Absent: no check. */
  readonly objection?: ((view: Tool) => Refusal | undefined) | undefined;
}

/** With more tools than this, a mistyped name is compared with the first ones only. */
const MAX_COMPARED = 1_000;

/** Lets operators view and change the tools of all servers. */
export class ToolService {
  readonly #options: ToolServiceOptions;

  constructor(options: ToolServiceOptions) {
    this.#options = options;
  }

  /** In catalog order. Tools that appear, disappear or stop matching in between do not shift pages. */
  async page(filter: ToolFilter, { after, limit, isFresh }: PageRequest): Promise<ToolPage> {
    await this.#options.listed({ server: filter.server, isFresh });
    const all = this.#entries;
    const wanted = all.filter((entry) => this.#isWanted(entry, filter));
    const start = after === undefined ? 0 : indexAfter(all, after);
    const behind = new Set(start === 0 ? wanted : all.slice(start));
    const rest = start === 0 ? wanted : wanted.filter((entry) => behind.has(entry));
    const shown = rest.slice(0, limit);
    const last = shown.at(-1);
    const next =
      last !== undefined && rest.length > limit
        ? { id: getToolId(last), index: all.indexOf(last) }
        : undefined;
    return { tools: shown.map((entry) => this.#view(entry)), total: wanted.length, ...(next && { next }) };
  }

  /** Error: TOOL_UNKNOWN. */
  async find(id: string): Promise<Result<Tool, Refusal>> {
    await this.#options.listed({ tool: id });
    const entry = this.#entry(id);
    if (!entry.ok) return entry;
    const { claims } = this.#options;
    await claims.studied(entry.value.server.spec);
    const guarantee = await computeToolGuarantee(entry.value, this.#options);
    return ok({ ...this.#view(entry.value), ...(guarantee !== undefined && { guarantee }) });
  }

  /** Explains how a call of the tool is decided. Error: TOOL_UNKNOWN. */
  async explain(id: string, caller: AssumedCaller): Promise<Result<Decision, Refusal>> {
    await this.#options.listed({ tool: id });
    const entry = this.#entry(id);
    return entry.ok ? ok(await explainDecision(entry.value, this.#options, caller)) : entry;
  }

  /** Errors: TOOL_UNKNOWN, HINTS_CONTRADICT, TOOL_EXISTS, or the changer's objection. */
  change(id: string, patch: ToolPatch, changer: Changer): Promise<Result<Tool, Refusal>> {
    return this.#edit(id, changer, (record, entry) => {
      const checked = normalizePatch(patch, entry, this.#entries);
      if (!checked.ok) return checked;
      const changed = this.#patched(record, entry, { patch: checked.value, subject: changer.subject });
      if (!changed.ok) return changed;
      return ok({ record: changed.value, action: 'tool.update', reason: patch.reason });
    });
  }

  /**
   * Changes that apply a patch to a tool whose definition becomes `text` in the same transaction. Error:
   * HINTS_CONTRADICT.
   */
  async patch(
    id: string,
    patch: ToolPatch,
    { subject, text }: { readonly subject: string; readonly text: string },
  ): Promise<Result<ToolChange, Refusal>> {
    await this.#options.listed({ tool: id });
    const entry = this.#entry(id);
    if (!entry.ok) return ok({ changes: [], audit: [] });
    const { server, definition } = entry.value;
    const before = this.#options.records.get('tool', id) ?? createToolRecord(server.spec, definition, id);
    const made = { ...entry.value, definition: { ...definition, bytes: Buffer.from(text) } };
    const changed = this.#patched(before, made, { patch, subject });
    if (!changed.ok) return changed;
    if (changed.value === before) return ok({ changes: [], audit: [] });
    return ok(
      this.#changeOf(entry.value, {
        subject,
        before,
        changed: { record: changed.value, action: 'tool.update', reason: patch.reason },
      }),
    );
  }

  #patched(
    record: ToolRecord,
    { server, definition }: Entry,
    { patch, subject }: { readonly patch: ToolPatch; readonly subject: string },
  ): Result<ToolRecord, Refusal> {
    const { hints: declared } = getDeclared(definition);
    const { claims, nowMs } = this.#options;
    const now = claims.currentDefinitionOf(server.spec, definition);
    return applyPatch(record, { patch, author: subject, nowMs: nowMs(), now, declared });
  }

  /** Accepts the current definition, so that earlier overrides apply to it. */
  review(id: string, changer: Changer): Promise<Result<Tool, Refusal>> {
    return this.#edit(id, changer, (record, { server, definition }) => {
      const now = this.#options.claims.currentDefinitionOf(server.spec, definition);
      if (isReviewed(record, now.digest) && !isUnstored(definition))
        return ok({ record, action: 'tool.review' });
      const accepted = [{ id, digest: now.digest, text: getDeclaredText(definition) }];
      return ok({ record: markReviewed(record, now), action: 'tool.review', accepted });
    });
  }

  async #edit(id: string, changer: Changer, change: Change): Promise<Result<Tool, Refusal>> {
    await this.#options.listed({ tool: id });
    const done = await this.#options.records.change(() => {
      const entry = this.#entry(id);
      if (!entry.ok) return entry;
      const objection = changer.objection?.(this.#view(entry.value));
      return objection === undefined ? this.#editOf(entry.value, changer, change) : err(objection);
    });
    return done.ok ? this.find(id) : done;
  }

  #editOf(entry: Entry, { subject }: Changer, change: Change): Result<Edit<undefined>, Refusal> {
    const { records } = this.#options;
    const id = getToolId(entry);
    const source = findRecordKey(entry.server.spec, entry.definition);
    // Another process may have removed the tool while this one still lists it.
    if (source !== undefined && records.get(source.kind, source.id) === undefined)
      return err({ code: 'TOOL_UNKNOWN', name: id });
    const before = records.get('tool', id) ?? createToolRecord(entry.server.spec, entry.definition, id);
    const changed = change(before, entry);
    if (!changed.ok) return changed;
    const { record, accepted } = changed.value;
    if (record === before) return ok({ value: undefined, changes: [] });
    const edit = this.#changeOf(entry, { subject, before, changed: changed.value });
    return ok({ ...edit, value: undefined, accepted, expected: source && [source] });
  }

  #changeOf(
    entry: Entry,
    { subject, before, changed }: { subject: string; before: ToolRecord; changed: Changed },
  ): ToolChange {
    const { record, action, reason } = changed;
    const event: AuditEvent = {
      atMs: this.#options.nowMs(),
      subject,
      action,
      target: { kind: 'tool', id: getToolId(entry), name: getEntryName(entry) },
      before: toAuditedTool(before),
      after: { ...toAuditedTool(record), ...(reason !== undefined && { reason }) },
    };
    const body = isEmptyRecord(record) ? undefined : record;
    const change = { kind: 'tool', id: getToolId(entry), body } as const;
    return { changes: [change], audit: [event], lowers: findDisabling(before, record, getEntryName(entry)) };
  }

  #entry(id: string): Result<Entry, Refusal> {
    const entry = findEntry(this.#listing, id);
    return entry === undefined ? err(this.#unknown(id)) : ok(entry);
  }

  #unknown(name: string): Refusal {
    const nearest = findNearest(
      name,
      this.#entries.slice(0, MAX_COMPARED).flatMap((entry) => [entry.key, getEntryName(entry)]),
    );
    return { code: 'TOOL_UNKNOWN', name, ...(nearest !== undefined && { nearest }) };
  }

  get #listing(): Listing {
    return this.#options.catalog.all.listing('tools');
  }

  get #entries(): readonly Entry[] {
    const { entries, disabled } = this.#listing;
    return disabled.length === 0 ? entries : [...entries, ...disabled];
  }

  #view(entry: Entry): Tool {
    const { claims, levels, mask } = this.#options;
    return toToolView({ id: getToolId(entry), entry, claims, levels, mask });
  }

  #isWanted(entry: Entry, { server, text, enabled, hints, lint, drift }: ToolFilter): boolean {
    if (server !== undefined && entry.server.spec.name !== server) return false;
    if (enabled !== undefined && enabled === (entry.settings?.isDisabled === true)) return false;
    if (text !== undefined && !this.#speaksOf(entry, text)) return false;
    return (
      (hints === undefined || this.#hasHints(entry, hints)) &&
      (lint === undefined || this.#isLinted(entry, lint)) &&
      (drift === undefined || this.#hasDrifted(entry, drift))
    );
  }

  #speaksOf(entry: Entry, text: string): boolean {
    const { server, definition, key } = entry;
    const { title = '', description = '' } = getDeclared(definition);
    const shown = this.#options.claims.toolRecordOf(server.spec, definition)?.title ?? title;
    const all = `${key} ${getEntryName(entry)} ${shown} ${description}`.toLowerCase();
    return text
      .toLowerCase()
      .split(/\s+/)
      .every((word) => all.includes(word));
  }

  #hasHints({ server, definition }: Entry, hints: Readonly<Partial<Hints>>): boolean {
    const resolved = this.#options.claims.resolvedOf(server.spec, definition);
    return HINTS.every((hint) => hints[hint] === undefined || hints[hint] === resolved[hint].effective.value);
  }

  #isLinted({ server, definition, name }: Entry, wanted: boolean | string): boolean {
    const { claims, levels } = this.#options;
    const resolved = claims.resolvedOf(server.spec, definition);
    const found = getLintFindings({ name, declared: getDeclared(definition), resolved }, levels);
    return typeof wanted === 'string'
      ? found.some(({ rule }) => rule === wanted)
      : wanted === found.length > 0;
  }

  #hasDrifted({ server, definition }: Entry, wanted: 'any' | 'dangerous' | 'none'): boolean {
    // Includes a tool that changes with every list and is never compared in time.
    const drift = this.#options.claims.latestDriftOf(server.spec, definition);
    if (wanted === 'none') return drift === undefined;
    return drift !== undefined && (wanted === 'any' || drift.severity === 'dangerous');
  }
}

interface Changed {
  readonly record: ToolRecord;
  readonly accepted?: readonly AcceptedDefinition[];
  readonly action: string;
  readonly reason?: string | undefined;
}

type Change = (record: ToolRecord, entry: Entry) => Result<Changed, Refusal>;

function indexAfter(all: readonly Entry[], { id, index }: ToolLocation): number {
  const found = all.findIndex((entry) => getToolId(entry) === id);
  return found < 0 ? index : found + 1;
}
