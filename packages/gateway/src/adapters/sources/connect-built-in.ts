import { getUrlChooser } from '../../core/reach-rules.ts';
import type { Cause } from '../../core/cause.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Connectors, Link, OpenOptions } from '../../gateway/ports/link.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type { CustomTools, ServerSpec } from '../../core/server-spec.ts';
import { readTextWithin } from '@assay-mcp/kit/platform/bounded-file';
import type { FilterRunner } from './http/filter-processes.ts';
import type { HttpPort } from './http/open-http.ts';
import type { WatchFile } from '@assay-mcp/kit/platform/watch-file';
import type { LocalSource } from './local-source.ts';
import { BuiltInLink } from './built-in-link.ts';
import type { Launcher } from '@assay-mcp/kit/platform/launcher';
import type { BuiltInSource } from './built-in-tool.ts';
import { getSourceKind } from '../../core/sources/source-kinds.ts';

export interface BuiltInDeps {
  readonly log: Log;
  /** Masks secrets in a text. */
  readonly mask: (text: string) => string;
  /** Sends the requests of all tools; opened with the first. */
  readonly openHttp: () => Promise<HttpPort>;
  /** Evaluates the filters of all tools. */
  readonly openFilters: () => Promise<FilterRunner>;
  /** Starts the processes of function modules, and those that parse documents. */
  readonly launcher: Launcher;
  /** Path of the program that runs function modules. */
  readonly runner: string;
  /** Absolute path of the folder with Assay's own secrets, which no module may read. */
  readonly home?: string | undefined;
  /** Notifies each time a file may have changed. */
  readonly watch: WatchFile;
  /** Why a source's file must not be trusted, as a phrase that follows its name. */
  readonly fileFault: (path: string) => string | undefined;
}

/** Opens links to built-in tools. The code of each kind of source is loaded on first use. */
export function connectBuiltIn(deps: BuiltInDeps): Connectors<'openapi' | 'local'> {
  const { log, mask } = deps;
  return {
    openapi: async (spec, transport, opening) => {
      const [{ openOpenapi }, { createDocumentParser }, { withProxy }] = await Promise.all([
        import('./openapi/open-openapi.ts'),
        import('./openapi/document-parser.ts'),
        import('./http/open-http.ts'),
      ]);
      const { timeoutMs } = spec;
      const chosenBy = getUrlChooser(spec);
      const http = withProxy(await deps.openHttp(), transport);
      const readFile: typeof readTextWithin = async (path, maxBytes) => {
        const fault = deps.fileFault(path);
        return fault === undefined ? readTextWithin(path, maxBytes) : err(fault);
      };
      const parse = createDocumentParser(deps.launcher);
      const { watch } = deps;
      const source = openOpenapi({ ...transport, chosenBy, timeoutMs, http, readFile, parse, watch });
      return open(spec, opening, { source, log, mask });
    },
    local: async (spec, transport, opening) => {
      const source = await openLocal(transport, deps);
      const adopt = ({ transport: next }: ServerSpec): void => source.adopt(getSourceKind(next).custom(next));
      return open(spec, opening, { source, log, mask, adopt });
    },
  };
}

interface Opened {
  readonly source: BuiltInSource;
  readonly log: Log;
  readonly mask: BuiltInDeps['mask'];
  readonly adopt?: (spec: ServerSpec) => void;
}

async function open(
  { name: server }: ServerSpec,
  { events, signal }: OpenOptions,
  opened: Opened,
): Promise<Result<Link, Cause>> {
  const first = await opened.source.read(signal);
  if (first.ok) return ok(new BuiltInLink({ server, ...opened, first: first.value, events }));
  await opened.source.close();
  return first;
}

async function openLocal(transport: CustomTools, deps: BuiltInDeps): Promise<LocalSource> {
  const [{ LocalSource: Source }, { createRestTool }, { openModule }, http, filters] = await Promise.all([
    import('./local-source.ts'),
    import('./rest/rest-tool.ts'),
    import('./functions/open-module.ts'),
    deps.openHttp(),
    deps.openFilters(),
  ]);
  const { home, log, launcher, runner, watch, fileFault } = deps;
  const forbidden = home === undefined ? [] : [home];
  return new Source(transport, {
    makeTool: (spec) => createRestTool(spec, { http, filters }),
    openModule: (spec) => openModule(spec, { launcher, runner, log, watch, forbidden, fileFault }),
  });
}
