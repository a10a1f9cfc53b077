import { findServe, isAnswering, type RunningServe } from './adapters/store/running-serve.ts';
import { watchFile, type Watching } from './adapters/config/watch-file.ts';
import type { ServerSpec } from './core/server-spec.ts';
import type { Catalog, Plan } from './gateway/catalog/catalog.ts';

/** The name under which a running `serve` stands where Assay is its client. */
const NAME = 'serve';
/** Each server behind it has its own limit; none of ours comes before it. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/** What is to be shown whatever is equipped: all tools, or those of one toolset. */
export interface Shown {
  readonly all?: boolean;
  readonly toolset?: string;
}

/** A plan whose only server is the running `serve` itself; undefined where none runs. */
export async function planOfServe(path: string, shown: Shown): Promise<Plan | undefined> {
  const serve = await findServe(path);
  const isThere = serve !== undefined && (await isAnswering(serve));
  return isThere ? { servers: [specOf(serve, shown)], rejected: [] } : undefined;
}

/** Lets the catalog follow where `serve` is, as it ends and is started again. While none runs the last one counts. */
export async function followServe(path: string, catalog: Catalog, shown: Shown): Promise<Watching> {
  const look = (): void => {
    void planOfServe(path, shown).then((plan) => plan && catalog.follow(plan));
  };
  const watching = await watchFile(path, look);
  // It may have been started anew before it was watched.
  look();
  return watching;
}

/** What it serves comes from one gateway already: names stay as they are. */
export function attachedView(catalog: Catalog): Catalog['all'] {
  return catalog.of(NAME) ?? catalog.all;
}

function specOf({ url, token }: RunningServe, { all, toolset }: Shown): ServerSpec {
  const part =
    all === true ? '/all' : toolset === undefined ? '' : `/toolsets/${encodeURIComponent(toolset)}`;
  return {
    name: NAME,
    transport: {
      kind: 'http',
      flavour: 'streamable',
      url: new URL(`/mcp${part}`, url),
      headers: { authorization: `Bearer ${token}` },
    },
    timeoutMs: NO_LIMIT_MS,
    prefix: false,
    isolation: 'shared',
    isFromConfig: true,
  };
}
