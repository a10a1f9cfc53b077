import { createEntrySeal } from '../adapters/auth/seal.ts';
import { createEntryReader, createCustomReader } from '../adapters/config/registered-entry.ts';
import { findInstallation } from '../adapters/study/find-installation.ts';
import { loadStudy } from '../adapters/study/load-study.ts';
import { compileSchema } from '../adapters/sources/schema-check.ts';
import { listServerSecrets } from '../core/secrets/secret-values.ts';
import { buildWordSearch } from '../adapters/search/word-search.ts';
import { loadTokenCounter } from '../adapters/telemetry/token-counter.ts';
import type { Settings } from '../core/settings.ts';
import type { Catalog } from '../gateway/catalog/catalog.ts';
import type { Plan } from '../gateway/catalog/server-plan.ts';
import { DriftDetector } from '../gateway/catalog/drift-detector.ts';
import { UnstoredDefinitions } from '../gateway/catalog/unstored-definitions.ts';
import { InstructionsReview } from '../gateway/catalog/instructions-review.ts';
import { RegisteredServers } from '../gateway/catalog/registered.ts';
import type { ServerDeps } from '../gateway/catalog/server-deps.ts';
import type { Relay } from '../gateway/relay/call.ts';
import type { SessionStates } from '../gateway/catalog/session-states.ts';
import { StudyClaims } from '../gateway/catalog/study-claims.ts';
import { ToolClaims } from '../gateway/catalog/tool-claims.ts';
import type { RecordReplica } from '../gateway/catalog/record-replica.ts';
import type { EntrySeal, ReadEntry, ReadCustom } from '../gateway/ports/config-entries.ts';
import { ToolsetViews } from '../gateway/services/configuration-tools/toolset-views.ts';
import { NoteService } from '../gateway/services/notes/note-service.ts';
import { SessionToolsets } from '../gateway/services/toolsets/session-toolsets.ts';
import { recordFirstTools } from '../gateway/services/toolsets/first-tools.ts';
import { findToolsIn } from '../gateway/services/toolsets/find-tools.ts';
import { ToolsetService } from '../gateway/services/toolsets/toolset-service.ts';
import { Toolsets } from '../gateway/services/toolsets/toolsets.ts';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import type { Environment } from './environment.ts';

/** Maximum time in ms that a short session in a new home takes to keep what it has seen. */
const LAST_MS = 5_000;

/** The operators' records and the services that read them. */
export interface Records {
  readonly records: RecordReplica;
  readonly claims: ToolClaims;
  readonly drift: DriftDetector;
  readonly instructions: InstructionsReview;
  readonly registered: RegisteredServers;
  readonly readEntry: ReadEntry;
  readonly readCustom: ReadCustom;
  readonly seal: EntrySeal;
}

/** Opens the records as last cached in this home. The store is read on demand. */
export function openRecords(environment: Environment, settings: Settings): Records {
  const { home, configEnvironment, log, secrets, cleanup, options } = environment;
  const nowMs = (): number => Date.now();
  const records = environment.records();
  const prose = settings['drift.prose'];
  const unstored = new UnstoredDefinitions();
  const drift = new DriftDetector({ records, log, prose, nowMs, limits: options.limits, unstored });
  const instructions = new InstructionsReview({ records, log, nowMs });
  cleanup.defer(async () => {
    // A short first session would leave nothing to compare later ones with.
    if (records.endDeferral())
      await waitAtMost(Promise.all([drift.allSettled(), instructions.allSettled()]), LAST_MS);
    await drift.close();
  });
  const readEntry = createEntryReader({ cwd: home, home: configEnvironment.home, assayHome: home });
  const readCustom = createCustomReader({ cwd: home, home: configEnvironment.home });
  const seal = createEntrySeal(environment.keys);
  const study = new StudyClaims({ load: () => loadStudy(home), findInstallation, nowMs });
  cleanup.defer(() => study.close());
  const learn = ({ servers }: Plan): void => secrets.add(servers.flatMap(listServerSecrets));
  return {
    records,
    claims: new ToolClaims(records, prose, unstored, study),
    drift,
    instructions,
    registered: new RegisteredServers({ records, readEntry, readCustom, seal, learn, log }),
    readEntry,
    readCustom,
    seal,
  };
}

/** What operators accepted of servers. A long-running process also compares it with their current lists. */
export function buildReviewDeps(
  records: Records | undefined,
  isRecorded: boolean,
): Pick<ServerDeps, 'claims' | 'instructions' | 'onInstructions' | 'onTools'> {
  const { claims, instructions, drift } = records ?? {};
  return {
    claims,
    instructions,
    onInstructions: isRecorded ? (spec, now) => void instructions?.saw(spec, now) : undefined,
    onTools: isRecorded ? (...read) => drift?.saw(...read) : undefined,
  };
}

export interface OpenToolsets {
  readonly toolsets: Toolsets;
  readonly notes: NoteService;
  readonly toolsetService: ToolsetService;
  readonly views: ToolsetViews;
}

interface ToolsetsOptions {
  readonly catalog: Catalog;
  readonly relay: Relay;
  readonly settings: Settings;
  /** Whether clients use tokens. */
  readonly isPersonal: boolean;
  /** Whether each client equips for itself alone, whatever `mode.scope`. By default if clients use tokens. */
  readonly equipsAlone?: boolean;
  /** What is kept of sessions beyond this process. */
  readonly states?: SessionStates | undefined;
}

/** The toolsets of the home and their views of a catalog. */
export function openToolsets(
  environment: Environment,
  { catalog, relay, settings, isPersonal, equipsAlone = isPersonal, states }: ToolsetsOptions,
): OpenToolsets {
  const { cleanup } = environment;
  const toolsets = readToolsets(environment);
  const notes = new NoteService(toolsets, Date.now);
  const toolsetService = new ToolsetService(toolsets, findToolsIn(catalog, settings));
  const review = settings['notes.review'];
  const reviewsNotes = review === 'always' || (review === 'auto' && isPersonal);
  const scope = settings['mode.scope'];
  const sessions =
    equipsAlone || scope === 'session' ? openSessionToolsets(environment, { settings, toolsets }) : undefined;
  const views = new ToolsetViews({
    catalog,
    labels: relay.deps.labels,
    toolsets,
    notes,
    toolsetService,
    settings,
    reviewsNotes,
    sessions,
    states,
    loadTokenCounter,
    buildSearch: buildWordSearch,
    compile: compileSchema,
  });
  cleanup.defer(() => views.close());
  cleanup.defer(recordFirstTools(catalog, toolsets, environment));
  return { toolsets, notes, toolsetService, views };
}

function openSessionToolsets(
  { store, log, cleanup }: Environment,
  { settings, toolsets }: { readonly settings: Settings; readonly toolsets: Toolsets },
): SessionToolsets {
  const sessions = new SessionToolsets({
    open: () => store.open(),
    toolsets,
    idleMs: settings['limits.sessionIdleMs'],
    nowMs: () => Date.now(),
    log,
  });
  cleanup.defer(() => sessions.close());
  return sessions;
}

/** The toolsets of the home, as last cached until they are read. */
export function readToolsets({ records, cleanup }: Environment): Toolsets {
  const toolsets = new Toolsets({ records: records(), nowMs: () => Date.now() });
  cleanup.defer(() => toolsets.close());
  return toolsets;
}
