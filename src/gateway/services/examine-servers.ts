import { setTimeout as sleep } from 'node:timers/promises';
import { mapTexts, type Cause } from '../../core/cause.ts';
import type { ToolHintFacts, OfferFacts, ServerFacts, ServerWarning } from '../../core/check-servers.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { getDeclared } from '../catalog/definition-facts.ts';
import { answerEmpty, EMPTY_CLIENT } from '../catalog/server-request-router.ts';
import { readList } from '../catalog/inventory.ts';
import type { Connect, Definition, LinkEvents } from '../ports/link.ts';
import type { Server } from '../catalog/server.ts';
import { getSourceKind } from '../../core/sources/source-kinds.ts';
import { shorten } from '../../core/shorten.ts';

/** Output of a server besides its protocol messages, in order of arrival. */
export interface CollectedLogs {
  readonly stderr: readonly string[];
  readonly warnings: readonly ServerWarning[];
}

export interface ExaminationOptions {
  /** Not started yet; stopped at the end. */
  readonly catalog: Catalog;
  /** Connects to a legacy server again, without recording its output a second time. */
  readonly connectAgain: Connect;
  readonly logsOf: (server: string) => CollectedLogs;
  /** Masks secrets in text from a server. */
  readonly mask: (text: string) => string;
  /** Called once per server with the outcome of its start. */
  readonly onNews: (server: string, isUp: boolean) => void;
  readonly signal: AbortSignal;
}

/** Time limit in ms for a server to become ready. */
const STAND_LIMIT_MS = 30_000;
/** Time in ms to watch for a server's requests and for changed lists. */
const WATCH_MS = 1_000;
const LIST_LIMIT_MS = 5_000;
const LATE: Cause = { code: 'START_TIMEOUT', limitMs: STAND_LIMIT_MS };

/**
 * Starts all servers in parallel, examines each and stops it. Connects to a legacy server a second time with a client
 * that declares all capabilities.
 */
export async function examineServers(options: ExaminationOptions): Promise<readonly ServerFacts[]> {
  const { catalog } = options;
  const startedMs = performance.now();
  catalog.start();
  try {
    return await Promise.all(catalog.servers.map((server) => examine(server, startedMs, options)));
  } finally {
    await catalog.stop();
  }
}

async function examine(server: Server, startedMs: number, options: ExaminationOptions): Promise<ServerFacts> {
  const { logsOf, mask, onNews, signal } = options;
  const { spec } = server;
  await firstOf([server.settled(), signal], STAND_LIMIT_MS);
  const { state, link } = server;
  onNews(spec.name, state.state === 'up');
  const facts = { name: spec.name, isolation: spec.isolation };
  if (state.state !== 'up' || link === undefined) {
    const cause = ('cause' in state ? state.cause : undefined) ?? LATE;
    await server.stop();
    const { stderr, warnings } = logsOf(spec.name);
    // Restarts may have repeated the same output.
    const lastLines = [...new Set(stderr)]
      .slice(-MAX_LAST_LINES)
      .map((line) => shorten(mask(line), MAX_LINE_LENGTH));
    const condition = { kind: 'down', cause: mapTexts(cause, mask), lastLines } as const;
    return { ...facts, condition, warnings: warnings.map(masked(mask)) };
  }
  const { era, version: revision } = link;
  if (era === 'legacy') await pause(WATCH_MS, signal);
  const { tools } = server.inventory;
  const listFaults = server.lists.faults.map(({ cause }) => mapTexts(cause, mask));
  // Frees what a server holds exclusively, such as a port or a lock, for its second start.
  await server.stop();
  const isOurs = getSourceKind(spec.transport).isBuiltIn;
  const offered = era === 'legacy' && !isOurs ? await examineOffer(spec, tools, options) : undefined;
  const readyAfterMs = Math.round(state.sinceMs - startedMs);
  const hints = tools.map((tool) => (isOurs ? listedHintsOf(server, tool) : declaredHintsOf(tool)));
  const condition = { kind: 'up', era, revision, readyAfterMs, tools: hints, listFaults, offered } as const;
  return { ...facts, condition, warnings: logsOf(spec.name).warnings.map(masked(mask)) };
}

/** Undefined if the second connection or its list fails. */
async function examineOffer(
  spec: ServerSpec,
  before: readonly Definition[],
  { connectAgain, signal }: ExaminationOptions,
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
    const reading = { timeoutMs: LIST_LIMIT_MS, before };
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

const MAX_LAST_LINES = 5;
const MAX_LINE_LENGTH = 300;

function masked(mask: ExaminationOptions['mask']): (warning: ServerWarning) => ServerWarning {
  return (warning) => ({ ...warning, text: mask(warning.text) });
}

/** Hints as shown in lists. Tools that Assay builds itself have all four. */
function listedHintsOf({ claims, spec }: Server, tool: Definition): ToolHintFacts {
  const { readOnlyHint, destructiveHint } = claims.resolvedOf(spec, tool);
  return { tool: tool.key ?? '', readOnly: readOnlyHint.emitted, destructive: destructiveHint.emitted };
}

/** Hints as declared in the definition, listable or not. */
function declaredHintsOf(tool: Definition): ToolHintFacts {
  const { readOnlyHint, destructiveHint } = getDeclared(tool).hints;
  return { tool: tool.key ?? '(no name)', readOnly: readOnlyHint, destructive: destructiveHint };
}

async function pause(waitMs: number, signal: AbortSignal): Promise<void> {
  await sleep(waitMs, undefined, { signal }).catch(() => undefined);
}

/** Resolves with the promise, on abort, or after `limitMs`. */
async function firstOf(
  [done, signal]: readonly [Promise<void>, AbortSignal],
  limitMs: number,
): Promise<void> {
  const over = new AbortController();
  await Promise.race([done, pause(limitMs, AbortSignal.any([signal, over.signal]))]);
  over.abort();
}
