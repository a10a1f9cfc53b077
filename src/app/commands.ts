import type { Diagnosis } from '../core/finding.ts';
import type { Refusal } from '../core/refusal.ts';
import { formatIgnoredSetting } from '../core/resolve-settings.ts';
import { err, ok, type Result } from '../core/result.ts';
import type { ToolRef } from '../core/tool-ref.ts';
import type { OpenToolsets, ShownSettings } from '../edges/cli/runtime.ts';
import type { Catalog } from '../gateway/catalog/catalog.ts';
import type { Server } from '../gateway/catalog/server.ts';
import { NoteService } from '../gateway/services/notes/note-service.ts';
import { toSettingViews } from '../gateway/services/preferences/preference-service.ts';
import { findServerByTool } from '../gateway/services/toolsets/selection.ts';
import { parseWholeServer } from '../core/whole-server.ts';
import { findToolsIn, type FindTools } from '../gateway/services/toolsets/find-tools.ts';
import { ToolsetService } from '../gateway/services/toolsets/toolset-service.ts';
import { getToolIndex } from '../gateway/services/toolsets/tool-index.ts';
import { readText, writeAtomically } from '../platform/files.ts';
import { INTERRUPTED, waitForStop } from '../platform/stop-signals.ts';
import { type Environment, openInEnvironment, withEnvironment } from './environment.ts';
import { type ConfiguredCatalog, openCatalog } from './open-catalog.ts';
import { findUsableServe } from './call-tool.ts';
import { startSome } from './needed-servers.ts';
import type { AppOptions, DiagnosticsOptions } from '../core/command-options.ts';
import { readConfig } from './plan.ts';
import { readToolsets } from './records.ts';

export async function readSettings(options: AppOptions): Promise<Result<ShownSettings, Refusal>> {
  // Problems in the config are part of the answer.
  return withEnvironment({ ...options, isQuiet: false, transport: 'pipe' }, async (environment) => {
    const store = await environment.store.open();
    if (!store.ok) return store;
    const read = await readConfig(environment);
    if (read.ok && read.value.absence !== undefined) return err(read.value.absence);
    if (!read.ok) return read;
    const { ignored } = read.value;
    return ok({ settings: toSettingViews(read.value, ignored), warnings: ignored.map(formatIgnoredSetting) });
  });
}

/** Opens the toolsets of the home. Servers start only when their tools are needed. */
export function openToolsetsForCommand(options: AppOptions): Promise<Result<OpenToolsets, Refusal>> {
  return openInEnvironment({ ...options, isQuiet: true, transport: 'pipe' }, async (environment) => {
    const toolsets = await readToolsets(environment);
    const ready = await toolsets.ready();
    if (!ready.ok) return ready;
    let opened: ConfiguredCatalog | undefined;
    const find: FindTools = async ({ refs, isFresh = false }) => {
      const opening = opened === undefined ? await openCatalog(environment) : ok(opened);
      if (!opening.ok) return opening;
      if (opened === undefined) stopOnSignal(environment);
      opened = opening.value;
      const { catalog, settings } = opened;
      // A running `serve` keeps the lists up to date.
      const isCurrent = isFresh && (await findUsableServe(environment)) !== undefined;
      await startSome(catalog, serversOf(catalog, refs, isFresh && !isCurrent));
      return findToolsIn(catalog, settings)({ refs: [] });
    };
    const toolsetService = new ToolsetService(toolsets, find);
    const notes = new NoteService(toolsets, Date.now);
    return ok({ toolsets, notes, toolsetService, close: () => environment.cleanup.close() });
  });
}

/** The servers to start so that these refs can be looked up. */
function serversOf(catalog: Catalog, refs: readonly ToolRef[], isFresh: boolean): readonly Server[] {
  const index = getToolIndex(catalog.all.listing('tools'));
  return [
    ...new Set(
      refs.flatMap((ref) => {
        const found = index.resolve(ref);
        if (found.ok) return isFresh ? [found.value.server] : [];
        const { namespacedName = '' } = ref;
        const named = findServerByTool(namespacedName, catalog.servers);
        const isWhole = parseWholeServer(namespacedName) !== undefined;
        if (isWhole && !isFresh && named?.lists.isKnown('tools') === true) return [];
        return named === undefined && ref.refId !== undefined ? catalog.servers : (named ?? []);
      }),
    ),
  ];
}

function stopOnSignal({ cleanup }: Environment): void {
  void waitForStop().then(async () => {
    await cleanup.close();
    process.exit(INTERRUPTED);
  });
}

export async function readFileForCommand(path: string): Promise<Result<string, Refusal>> {
  const text = await readText(path);
  return text.ok ? text : err({ code: 'FILE_UNREADABLE', path, reason: text.error.reason });
}

const OWN_FILE = 0o600;

export async function writeFileForCommand(path: string, text: string): Promise<Result<undefined, Refusal>> {
  const written = await writeAtomically(path, text, OWN_FILE);
  return written.ok ? written : err({ code: 'FILE_UNWRITABLE', path, reason: written.error.reason });
}

/** A signal stops the started servers, then the program. */
export async function examineForCommand(options: DiagnosticsOptions): Promise<Diagnosis> {
  const interrupted = new AbortController();
  void waitForStop().then(() => interrupted.abort());
  const { examine } = await import('./diagnostics.ts');
  const diagnosis = await examine(options, interrupted.signal);
  if (interrupted.signal.aborted) process.exit(INTERRUPTED);
  return diagnosis;
}
