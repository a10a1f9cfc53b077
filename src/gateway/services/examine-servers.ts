import { setTimeout as sleep } from 'node:timers/promises';
import { mapTexts, type Cause } from '../../core/cause.ts';
import type { DeclaredHints, OfferFacts, ServerFacts, ServerWarning } from '../../core/judge-servers.ts';
import { defaultSettings } from '../../core/resolve-settings.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { answerEmpty, EMPTY_CLIENT } from '../catalog/server-request-router.ts';
import { readList } from '../catalog/inventory.ts';
import type { Connect, Definition, LinkEvents } from '../ports/link.ts';
import type { Server } from '../catalog/server.ts';
import { sourceKind } from '../../core/sources/source-kinds.ts';

/** What was heard of a server beside its messages, in the order in which it came. */
export interface Heard {
  readonly stderr: readonly string[];
  readonly warnings: readonly ServerWarning[];
}

export interface Examining {
  /** Not started yet; it is stopped at the end. */
  readonly catalog: Catalog;
  /** Connects to a legacy server anew; what that says is not heard again. */
  readonly connectAgain: Connect;
  readonly heardOf: (server: string) => Heard;
  /** Takes secrets out of a text that a server wrote. */
  readonly mask: (text: string) => string;
  /** Told of each server, once, how it did. */
  readonly onNews: (server: string, isUp: boolean) => void;
  readonly signal: AbortSignal;
}

/** Longest time in ms that a server has to stand. */
const STAND_LIMIT_MS = 30_000;
/** A server that wants something of its client, or has other tools for it, says so within this many ms. */
const WATCH_MS = 1_000;
const LIST_LIMIT_MS = 5_000;
const LATE: Cause = { code: 'START_TIMEOUT', limitMs: STAND_LIMIT_MS };

/** Starts all servers at a time, looks at each, and ends it; a legacy one also as a client that offers it something. */
export async function examineServers(examining: Examining): Promise<readonly ServerFacts[]> {
  const { catalog } = examining;
  const startedMs = performance.now();
  catalog.start();
  try {
    return await Promise.all(catalog.servers.map((server) => examine(server, startedMs, examining)));
  } finally {
    await catalog.stop();
  }
}

async function examine(server: Server, startedMs: number, examining: Examining): Promise<ServerFacts> {
  const { heardOf, mask, onNews, signal } = examining;
  const { spec } = server;
  await firstOf([server.settled(), signal], STAND_LIMIT_MS);
  const { life, link } = server;
  onNews(spec.name, life.state === 'up');
  const facts = { name: spec.name, isolation: spec.isolation };
  if (life.state !== 'up' || link === undefined) {
    const cause = ('cause' in life ? life.cause : undefined) ?? LATE;
    await server.stop();
    const { stderr, warnings } = heardOf(spec.name);
    // It may have been started more than once, and then said the same each time.
    const lastWords = [...new Set(stderr)].slice(-MOST_LAST_WORDS).map(mask).map(cut);
    const condition = { kind: 'down', cause: mapTexts(cause, mask), lastWords } as const;
    return { ...facts, condition, warnings: warnings.map(masked(mask)) };
  }
  const { era, version: revision } = link;
  if (era === 'legacy') await pause(WATCH_MS, signal);
  const { tools } = server.inventory;
  const listFaults = server.lists.faults.map(({ cause }) => mapTexts(cause, mask));
  // What a server holds alone, a port or a lock, is free for its second start.
  await server.stop();
  const isOurs = sourceKind(spec.transport).isBuiltIn;
  const offered = era === 'legacy' && !isOurs ? await examineOffer(spec, tools, examining) : undefined;
  const stoodAfterMs = Math.round(life.sinceMs - startedMs);
  const hints = tools.map((tool) => (isOurs ? saidHintsOf(server, tool) : hintsOf(tool)));
  const condition = { kind: 'up', era, revision, stoodAfterMs, tools: hints, listFaults, offered } as const;
  return { ...facts, condition, warnings: heardOf(spec.name).warnings.map(masked(mask)) };
}

/** Undefined where the server does not stand a second time. */
async function examineOffer(
  spec: ServerSpec,
  before: readonly Definition[],
  { connectAgain, signal }: Examining,
): Promise<OfferFacts | undefined> {
  const asked = new Set<string>();
  const deaf = (): void => undefined;
  const events: LinkEvents = {
    changed: deaf,
    updated: deaf,
    missed: deaf,
    drained: deaf,
    ended: deaf,
    requested: (question) => {
      asked.add(question.message.method);
      answerEmpty(question);
    },
  };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(STAND_LIMIT_MS)]);
  const opened = await connectAgain(spec, { events, signal: limit, client: EMPTY_CLIENT });
  if (!opened.ok) return undefined;
  try {
    await pause(WATCH_MS, signal);
    const reading = { timeoutMs: LIST_LIMIT_MS, before, limits: defaultSettings() };
    const listed = await readList(opened.value, 'tools', reading);
    if (!listed.ok) return undefined;
    const known = new Set(before.map(({ key }) => key));
    const moreTools = listed.value.definitions.flatMap(({ key }) =>
      key === undefined || known.has(key) ? [] : [key],
    );
    return { asked: [...asked], moreTools };
  } finally {
    await opened.value.close({ code: 'LINK_CLOSED' });
  }
}

const MOST_LAST_WORDS = 5;
const LONGEST_LINE = 300;

function masked(mask: Examining['mask']): (warning: ServerWarning) => ServerWarning {
  return (warning) => ({ ...warning, text: mask(warning.text) });
}

function cut(line: string): string {
  return line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line;
}

/** As lists show them: what Assay makes itself has all four. */
function saidHintsOf({ claims, spec }: Server, tool: Definition): DeclaredHints {
  const { readOnlyHint, destructiveHint } = claims.resolvedOf(spec, tool);
  return { tool: tool.key ?? '', readOnly: readOnlyHint.emitted, destructive: destructiveHint.emitted };
}

/** As the definition says, which is listable or not. */
function hintsOf({ key = '(no name)', bytes }: Definition): DeclaredHints {
  const annotations = memberOf(parsed(bytes), 'annotations');
  const hint = (name: string): boolean | undefined => {
    const value = memberOf(annotations, name);
    return typeof value === 'boolean' ? value : undefined;
  };
  return { tool: key, readOnly: hint('readOnlyHint'), destructive: hint('destructiveHint') };
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

function memberOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name];
}

async function pause(waitMs: number, signal: AbortSignal): Promise<void> {
  await sleep(waitMs, undefined, { signal }).catch(() => undefined);
}

/** Resolves with the promise, at the abort, or after so many ms. */
async function firstOf(
  [done, signal]: readonly [Promise<void>, AbortSignal],
  limitMs: number,
): Promise<void> {
  const over = new AbortController();
  await Promise.race([done, pause(limitMs, AbortSignal.any([signal, over.signal]))]);
  over.abort();
}
