import { printable } from '../core/printable.ts';
import { boundedText, sentenceOf } from '../core/sentences.ts';
import { err, ok, type Result } from '../core/result.ts';
import { headerParametersOf, readHeaderParameters } from '../protocol/header-parameters.ts';
import { listable } from '../protocol/listable.ts';
import { ownRequest, type ResponseMessage } from '../protocol/message.ts';
import { scanArray, scanObject } from '../protocol/scan.ts';
import { MAX_DEPTH, MAX_SERVER_DEPTH } from '../protocol/scanner.ts';
import { memberOf, planOf, rawOf, textOf, type Plan } from '../protocol/spans.ts';
import { ownAsk, type Definition, type Fitness, type Inventory, type Link, type ListKind } from './ports.ts';

export const EMPTY_INVENTORY: Inventory = { tools: [], prompts: [], resources: [], resourceTemplates: [] };

interface ListFacts {
  readonly method: string;
  /** The capability that says that the server has this list. */
  readonly capability: string;
  /** The member that names an entry. */
  readonly key: string;
  readonly kind: Parameters<typeof listable>[0];
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

/** A server that never stops giving cursors is stopped here. */
const MOST_PAGES = 1_000;
const METHOD_NOT_FOUND = -32601;

export interface Reading {
  readonly timeoutMs: number;
  /** Entries of the last reading: those that did not change are kept as they are. */
  readonly before: readonly Definition[];
}

/** Reads one list of a server, all pages. The error is a phrase. */
export async function readList(
  link: Link,
  kind: ListKind,
  reading: Reading,
): Promise<Result<readonly Definition[], string>> {
  const { method, capability } = LISTS[kind];
  if (link.capabilities[capability] === undefined) return ok([]);
  const known = new Map(reading.before.map((definition) => [definition.key, definition]));
  const found: Definition[] = [];
  const cursors = new Set<string | undefined>(['']);
  let cursor: string | undefined;
  do {
    const answer = await link.ask(
      ownAsk(ownRequest(method, cursor === undefined ? {} : { cursor }), reading.timeoutMs),
    );
    if (!answer.ok) return err(`${method}: ${sentenceOf(answer.error)}`);
    const { message } = answer.value;
    const result = memberOf(message.root, 'result');
    if (result === undefined) {
      const { code, text } = errorIn(message);
      const isAbsent = code === String(METHOD_NOT_FOUND);
      return kind === 'resourceTemplates' && isAbsent ? ok([]) : err(`${method} failed: ${code} ${text}`);
    }
    const bytes = message.bytes.subarray(result.start, result.end);
    const entries = entriesOf(bytes, { kind, known, hasHeaders: link.hasHeaders === true });
    if (entries === undefined) return err(`${method} was answered without a list`);
    for (const definition of entries.definitions) found.push(definition);
    cursors.add(cursor);
    cursor = entries.nextCursor;
    // A cursor that is empty, or came before, leads nowhere: the list ends here.
  } while (cursor !== undefined && !cursors.has(cursor) && cursors.size < MOST_PAGES);
  return ok(found);
}

/** What a server said in place of a list, for people. */
function errorIn({ bytes, root }: ResponseMessage): { readonly code: string; readonly text: string } {
  const error = memberOf(root, 'error')?.object;
  const code = memberOf(error, 'code');
  const text = textOf(bytes, memberOf(error, 'message')) ?? '(no message)';
  return {
    code: code === undefined ? '(no code)' : shown(rawOf(bytes, code)),
    text: shown(text),
  };
}

function shown(text: string): string {
  return printable(boundedText(text));
}

const RESULT_PLAN: Plan = planOf({
  nextCursor: {},
  tools: {},
  prompts: {},
  resources: {},
  resourceTemplates: {},
});

interface Source {
  readonly kind: ListKind;
  readonly known: ReadonlyMap<string | undefined, Definition>;
  readonly hasHeaders: boolean;
}

interface Entries {
  readonly definitions: readonly Definition[];
  readonly nextCursor: string | undefined;
}

function entriesOf(bytes: Buffer, source: Source): Entries | undefined {
  const scan = scanObject(bytes, { plan: RESULT_PLAN, strict: false, maxDepth: MAX_SERVER_DEPTH });
  const list = scan.ok ? memberOf(scan.value, source.kind) : undefined;
  const spans = list && scanArray(bytes, list.start, false);
  if (!scan.ok || spans === undefined) return undefined;
  const definitions = spans.map(({ start, end }) => definitionOf(bytes.subarray(start, end), source));
  return { definitions, nextCursor: textOf(bytes, memberOf(scan.value, 'nextCursor')) };
}

function definitionOf(slice: Buffer, { kind, known, hasHeaders }: Source): Definition {
  const facts = LISTS[kind];
  const parsed = parse(slice);
  const named = (typeof parsed === 'object' && parsed !== null ? parsed : {}) as Readonly<
    Record<string, unknown>
  >;
  const value = named[facts.key];
  const key = typeof value === 'string' ? value : undefined;
  const before = known.get(key);
  const isKnown = before?.bytes.equals(slice) === true;
  // What is wrong with the headers of a tool counts for legacy clients by the way that its server is reached, which may change.
  const isSound = kind !== 'tools' || readHeaderParameters(named['inputSchema']).ok;
  if (isKnown && isSound) return before;
  const fitness = fitnessOf(slice, parsed, { kind: facts.kind, isRejected: hasHeaders && !isSound });
  if (isKnown && before.fitness.legacy.kind === fitness.legacy.kind) return before;
  const parameters =
    kind === 'tools' && fitness.modern.kind !== 'withheld' ? headerParametersOf(slice) : undefined;
  // A copy, so that one small entry does not keep a whole page in memory.
  return { key, bytes: Buffer.from(slice), fitness, parameters };
}

const TOO_DEEP: Fitness = { kind: 'withheld', reason: `it is nested more than ${MAX_DEPTH} deep` };

/** `isRejected`: a client over HTTP must reject it (2026-07-28, server/tools#x-mcp-header), and so nobody is shown it. */
function fitnessOf(
  bytes: Buffer,
  parsed: unknown,
  { kind, isRejected }: { readonly kind: ListFacts['kind']; readonly isRejected: boolean },
): Definition['fitness'] {
  if (isTooDeep(bytes)) return { legacy: TOO_DEEP, modern: TOO_DEEP };
  const modern = listable(kind, 'modern', parsed);
  return { legacy: isRejected ? modern : listable(kind, 'legacy', parsed), modern };
}

const NO_PLAN: Plan = planOf({});

function isTooDeep(bytes: Buffer): boolean {
  const scan = scanObject(bytes, { plan: NO_PLAN, strict: false });
  return !scan.ok && scan.fault.isJson;
}

/** Undefined when it is no JSON after all; such an entry is withheld as nameless. */
function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
