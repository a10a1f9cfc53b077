import type { Cause } from '../../core/cause.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import { toCause } from '../../core/refusal-cause.ts';
import { shortenPeerText } from '../../core/bounded-refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ListedKind } from '@assay-mcp/protocol/definition-rules';
import { ListFrame } from '@assay-mcp/protocol/list-frame';
import { buildOwnRequest, type ResponseMessage } from '@assay-mcp/protocol/message';
import { findMember, readRawValue, readJsonString } from '@assay-mcp/protocol/spans';
import { CLOSE_BRACKET, isSpace } from '@assay-mcp/protocol/tokens';
import { ListBudget, type ListCut, type ListLimits } from './list-budget.ts';
import {
  buildOwnUpstreamRequest,
  type Definition,
  type Inventory,
  type Link,
  type ListKind,
} from '../ports/link.ts';
import { isUnchanged, readDefinition, type EntrySource } from './read-definition.ts';
import { Turns } from '@assay-mcp/kit/turns';

export const EMPTY_INVENTORY: Inventory = { tools: [], prompts: [], resources: [], resourceTemplates: [] };

interface ListFacts {
  readonly method: string;
  /** The capability that declares this list. */
  readonly capability: string;
  /** The member that names an entry. */
  readonly key: string;
  readonly kind: ListedKind;
}

export const LISTS: Readonly<Record<ListKind, ListFacts>> = {
  tools: { method: 'tools/list', capability: 'tools', key: 'name', kind: 'tool' },
  prompts: { method: 'prompts/list', capability: 'prompts', key: 'name', kind: 'prompt' },
  resources: { method: 'resources/list', capability: 'resources', key: 'uri', kind: 'resource' },
  resourceTemplates: {
    method: 'resources/templates/list',
    capability: 'resources',
    key: 'uriTemplate',
    kind: 'resourceTemplate',
  },
};

export const LIST_KINDS: readonly ListKind[] = ['tools', 'prompts', 'resources', 'resourceTemplates'];

/** Stops a server that never stops returning cursors. */
const MAX_PAGES = 1_000;
const METHOD_NOT_FOUND = -32601;

export interface Reading {
  readonly timeoutMs: number;
  /** Entries of the last reading. Unchanged ones are reused. */
  readonly before: readonly Definition[];
  readonly limits?: ListLimits | undefined;
  /** Whether the result is still wanted. Polled during the reading. */
  readonly isWanted?: (() => boolean) | undefined;
  readonly nowMs?: (() => number) | undefined;
  /** Clock that measures work. */
  readonly workMs?: (() => number) | undefined;
  /** Called for each definition that is new or has moved, as part of the turn that reads it. */
  readonly prepare?: ((definition: Definition) => void) | undefined;
  /** Reports the bytes of each answer and the ms of each stretch of work. */
  readonly onWork?: ((work: { readonly bytes: number } | { readonly ms: number }) => void) | undefined;
}

export interface ListRead {
  readonly definitions: readonly Definition[];
  /** Undefined if nothing was left out. */
  readonly cut: ListCut | undefined;
}

const EMPTY: ListRead = { definitions: [], cut: undefined };

/** Reads one list of a server, page by page until it ends or a limit is reached. */
export async function readList(
  link: Link,
  kind: ListKind,
  reading: Reading,
): Promise<Result<ListRead, Cause>> {
  const { method, capability } = LISTS[kind];
  if (link.capabilities[capability] === undefined) return ok(EMPTY);
  const found = new Entries(kind, reading, link);
  const cursors = new Set<string | undefined>();
  let cursor: string | undefined;
  do {
    const answer = await link.send(
      buildOwnUpstreamRequest(
        buildOwnRequest(method, cursor === undefined ? {} : { cursor }),
        reading.timeoutMs,
      ),
    );
    if (!answer.ok) return err({ code: 'LIST_UNANSWERED', method, cause: toCause(answer.error) });
    const { message } = answer.value;
    const result = findMember(message.root, 'result');
    if (result === undefined) {
      const { code, text } = errorIn(message);
      // For this server an empty cursor ended the list.
      if (cursor === '') break;
      // Servers declare `resources` or `prompts` without having any, and few have templates.
      const isAbsent = kind !== 'tools' && code === String(METHOD_NOT_FOUND);
      return isAbsent ? ok(EMPTY) : err({ code: 'LIST_REFUSED', method, error: code, message: text });
    }
    reading.onWork?.({ bytes: message.bytes.length });
    const page = await found.take(message.bytes.subarray(result.start, result.end));
    if (!page.ok) return err({ code: 'LIST_INVALID', method, reason: page.error });
    cursors.add(cursor);
    cursor = page.value;
    // A repeated cursor ends the list. An empty one is a cursor like others (2025-11-25, server/utilities/pagination).
  } while (cursor !== undefined && !cursors.has(cursor) && cursors.size < MAX_PAGES);
  return ok({ definitions: found.definitions, cut: found.budget.cut });
}

/** The server's error, for people, if it answered with one instead of a list. */
function errorIn({ bytes, root }: ResponseMessage): { readonly code: string; readonly text: string } {
  const error = findMember(root, 'error')?.object;
  const code = findMember(error, 'code');
  const text = readJsonString(bytes, findMember(error, 'message')) ?? '(no message)';
  return {
    code: code === undefined ? '(no code)' : toSafeText(readRawValue(bytes, code)),
    text: toSafeText(text),
  };
}

function toSafeText(text: string): string {
  return toPrintable(shortenPeerText(text));
}

/** Bytes to scan before checking whether to yield. */
const STEPS = 20_000;

/** Entries found so far. Yields to the event loop, so that a large list does not block other work. */
class Entries {
  readonly definitions: Definition[] = [];
  readonly budget: ListBudget;
  readonly #source: EntrySource;
  readonly #reading: Reading;
  readonly #kind: ListKind;
  readonly #repeats = new PageRepeats();

  constructor(kind: ListKind, reading: Reading, link: Link) {
    this.#kind = kind;
    this.#reading = reading;
    this.budget = new ListBudget(reading.limits);
    const known = new Map(reading.before.map((definition) => [definition.key, definition]));
    this.#source = {
      ...{ kind: LISTS[kind].kind, key: LISTS[kind].key, known, hasHeaders: link.hasHeaders === true },
      factsOf: kind === 'tools' ? link.facts?.bind(link) : undefined,
    };
  }

  /**
   * Takes the entries of one page. Returns the cursor of the next page, or undefined if none is wanted. The error is a
   * phrase.
   */
  async take(result: Buffer): Promise<Result<string | undefined, string>> {
    const { isWanted = () => true, nowMs, workMs, onWork } = this.#reading;
    const frame = new ListFrame(result, this.#kind);
    const turns = new Turns({ nowMs, workMs, onWork: (ms) => onWork?.({ ms }) });
    this.#repeats.beginPage();
    while (!frame.isDone && !this.budget.isSpent) {
      for (const { start, end, values } of frame.read(STEPS)) {
        if (this.#repeats.isRepeated(result, { start, end })) {
          turns.end();
          return ok(undefined);
        }
        if (!this.#takeEntry(result.subarray(start, end), values)) break;
        if (turns.isOver) await turns.next();
      }
      if (turns.isOver) await turns.next();
      if (!isWanted()) return err('no call is waiting for it any more');
    }
    turns.end();
    if (frame.fault !== undefined) return err(frame.fault);
    if (!frame.hasList) return err(`it has no ${JSON.stringify(this.#kind)} array`);
    return ok(this.budget.isSpent ? undefined : frame.nextCursor);
  }

  /** Returns whether there is room for more. */
  #takeEntry(slice: Buffer, values: number): boolean {
    const taken = this.budget.take({ bytes: slice.length, values });
    if (taken === 'full') return false;
    if (taken === 'skip') return true;
    // Most lists keep their order.
    const before = this.#reading.before[this.definitions.length];
    const definition = isUnchanged(slice, before, this.#source)
      ? before
      : readDefinition(slice, this.#source);
    if (definition !== before) this.#reading.prepare?.(definition);
    this.definitions.push(definition);
    return true;
  }
}

/** Recognizes a page with the same entries as the first one or the one before: its server ignores the cursor. */
class PageRepeats {
  /** From the start of the first entry to the end of the last. */
  #first: Buffer | undefined;
  #before: Buffer | undefined;
  #page: { readonly result: Buffer; readonly start: number; end: number } | undefined;

  beginPage(): void {
    const { result, start, end } = this.#page ?? {};
    this.#before = result?.subarray(start, end);
    this.#first ??= this.#before;
    this.#page = undefined;
  }

  /** Called for each entry of a page in order. The first one tells. */
  isRepeated(result: Buffer, { start, end }: { readonly start: number; readonly end: number }): boolean {
    if (this.#page !== undefined) {
      this.#page.end = end;
      return false;
    }
    this.#page = { result, start, end };
    return [this.#first, this.#before].some((page) => page !== undefined && containsAt(result, start, page));
  }
}

/** Whether an array continues at this position with this text and nothing else. */
function containsAt(bytes: Buffer, start: number, text: Buffer): boolean {
  let end = start + text.length;
  if (bytes.compare(text, 0, text.length, start, Math.min(end, bytes.length)) !== 0) return false;
  while (isSpace(bytes[end])) end += 1;
  return bytes[end] === CLOSE_BRACKET;
}
