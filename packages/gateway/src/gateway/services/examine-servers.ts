import { setTimeout as sleep } from 'node:timers/promises';
import { mapTexts, type Cause } from '../../core/cause.ts';
import type {
  ToolHintFacts,
  OfferFacts,
  ServerFacts,
  ServerWarning,
  TwinFacts,
  WithheldFacts,
} from '../../core/check-servers.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { getDeclared } from '../catalog/definition-facts.ts';
import { answerEmpty, EMPTY_CLIENT } from '../catalog/server-request-router.ts';
import { readList } from '../catalog/inventory.ts';
import type { Connect, Definition, LinkEvents } from '../ports/link.ts';
import type { Server } from '../catalog/server.ts';
import { getSourceKind } from '../../core/sources/source-kinds.ts';
import { shorten } from '@assay-mcp/kit/shorten';

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

/** Time limit in ms for everything that is examined of a server. */
const SERVER_LIMIT_MS = 10_000;
/** Time in ms to watch for a server's requests and for changed lists. */
const WATCH_MS = 1_000;
const LIST_LIMIT_MS = 5_000;
const LATE: Cause = { code: 'START_TIMEOUT', limitMs: SERVER_LIMIT_MS };

/**
 * Starts all servers in parallel, examines each for at most 10 s and stops it. Then starts its twin, if it has one, and
 * connects to a legacy server a second time with a client that declares all capabilities.
 */
export async function examineServers(options: ExaminationOptions): Promise<readonly ServerFacts[]> {
  const { catalog } = options;
  catalog.start();
  try {
    return await Promise.all(catalog.servers.map((server) => examine(server, options)));
  } finally {
    await catalog.stop();
  }
}

async function examine(server: Server, given: ExaminationOptions): Promise<ServerFacts> {
  await server.waitForStartSlot(given.signal);
  const startedMs = performance.now();
  const signal = AbortSignal.any([given.signal, AbortSignal.timeout(SERVER_LIMIT_MS)]);
  const options = { ...given, signal };
  const { logsOf, mask, onNews } = options;
  const { spec } = server;
  await waitFor(server.settled(), signal);
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
  const twin = await examineTwin(spec, options);
  const offered = era === 'legacy' && !isOurs ? await examineOffer(spec, tools, options) : undefined;
  const readyAfterMs = Math.round(state.sinceMs - startedMs);
  const hints = tools.map((tool) => (isOurs ? listedHintsOf(server, tool) : declaredHintsOf(tool)));
  const withheld = tools.flatMap(listWithheld).map(({ tool, reason }) => ({
    tool: shorten(mask(tool), MAX_LINE_LENGTH),
    reason: shorten(mask(reason), MAX_LINE_LENGTH),
  }));
  const lists = { tools: hints, listFaults, ...(withheld.length > 0 && { withheld }) };
  const condition = { kind: 'up', era, revision, readyAfterMs, ...lists, offered, twin } as const;
  return { ...facts, condition, warnings: logsOf(spec.name).warnings.map(masked(mask)) };
}

/** Withheld from clients of both eras, so that no client can call it. */
function listWithheld({
  key = '(no name)',
  fitness: { legacy, modern },
}: Definition): readonly WithheldFacts[] {
  return legacy.kind === 'withheld' && modern.kind === 'withheld'
    ? [{ tool: key, reason: legacy.reason }]
    : [];
}

/** Starts the process that serves the read-only tools of a server with a sandbox. */
async function examineTwin(
  spec: ServerSpec,
  { connectAgain, mask, signal }: ExaminationOptions,
): Promise<TwinFacts | undefined> {
  if (getSourceKind(spec.transport).command(spec.transport)?.sandbox === undefined) return undefined;
  const events: LinkEvents = { ...NO_EVENTS, requested: answerEmpty };
  const opened = await connectAgain(spec, { events, signal, client: EMPTY_CLIENT, rights: 'read' });
  if (!opened.ok) return { cause: mapTexts(signal.aborted ? LATE : opened.error, mask) };
  await opened.value.close({ code: 'LINK_CLOSED' });
  return { cause: undefined };
}

const IGNORE = (): void => undefined;
const NO_EVENTS = { changed: IGNORE, updated: IGNORE, missed: IGNORE, drained: IGNORE, ended: IGNORE };

/** Undefined if the second connection or its list fails. */
async function examineOffer(
  spec: ServerSpec,
  before: readonly Definition[],
  { connectAgain, signal }: ExaminationOptions,
): Promise<OfferFacts | undefined> {
  const asked = new Set<string>();
  const events: LinkEvents = {
    ...NO_EVENTS,
    requested: (question) => {
      asked.add(question.message.method);
      answerEmpty(question);
    },
  };
  const opened = await connectAgain(spec, { events, signal, client: EMPTY_CLIENT });
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

/** Waits for the promise, or until the signal aborts. */
async function waitFor(done: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const aborted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([done, aborted]);
}
