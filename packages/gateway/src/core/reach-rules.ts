import type { FindProxy, Outbound } from '@assay-mcp/kit/outbound';
import type { Reach } from '@assay-mcp/kit/reach';
import type { ProxySpec, ServerSpec } from './server-spec.ts';
import { getSourceKind } from './sources/source-kinds.ts';

/**
 * Who chose a URL: the config file, an operator at runtime (API, commands, bundles), or a document or server that names
 * it and is itself at a public address or not.
 */
export type UrlChooser = 'config' | 'operator' | 'public_source' | 'private_source';

export interface ReachSettings {
  /** Whether other machines can reach Assay itself. */
  readonly isOnNetwork: boolean;
  readonly allowLoopback: boolean;
  readonly allowPrivate: boolean;
  /** The proxies of the environment. Undefined: none. */
  readonly findProxy?: FindProxy | undefined;
}

/** Permitted destinations, by who chose the URL, and the proxies of the environment. */
export type ReachRules = Readonly<Record<UrlChooser, ReadonlySet<Reach>>> & Pick<ReachSettings, 'findProxy'>;

/**
 * The one rule for all kinds of sources. The config file belongs to the person who runs Assay and may name anything
 * except metadata endpoints, which hand out credentials. An operator may name public addresses, what the settings
 * allow, and loopback if Assay itself is not reachable from the network. A third party may name public addresses only,
 * unless it is itself at an address that the settings allow.
 */
export function createReachRules({
  isOnNetwork,
  allowLoopback,
  allowPrivate,
  findProxy,
}: ReachSettings): ReachRules {
  const set: readonly Reach[] = [
    'public',
    ...(allowLoopback ? (['loopback'] as const) : []),
    ...(allowPrivate ? (['private'] as const) : []),
  ];
  return {
    config: new Set(['public', 'private', 'loopback', 'reserved']),
    operator: new Set(isOnNetwork ? set : [...set, 'loopback']),
    private_source: new Set(set),
    public_source: new Set(['public']),
    ...(findProxy && { findProxy }),
  };
}

/**
 * How requests to a URL leave. `entryChooser`: who chose the proxy. What the proxy may resolve was written for the URLs of
 * the entry: a URL that a third party names must be one whose addresses can be checked here.
 */
export function toOutbound(
  rules: ReachRules,
  chooser: UrlChooser,
  { proxy, proxyResolves = false }: ProxySpec = {},
  entryChooser: UrlChooser = chooser,
): Outbound | undefined {
  const resolves = proxyResolves && (chooser === 'config' || chooser === 'operator');
  const { findProxy } = rules;
  if (proxy === false || (proxy === undefined && findProxy === undefined)) return undefined;
  return {
    key: `${resolves} ${entryChooser} ${proxy ?? ''}`,
    proxyResolves: resolves,
    findProxy: (target) =>
      proxy === undefined ? findProxy?.(target) : { url: new URL(proxy), reaches: rules[entryChooser] },
  };
}

/** A document or server that names URLs. */
export interface Namer {
  /** Undefined for a file. */
  readonly url: URL | undefined;
  /** Who chose its URL. */
  readonly chooser: UrlChooser;
  /** Whether it is at a public address, or was reached through one. */
  readonly isPublic: boolean;
}

/** A URL on the same origin as the document that names it inherits that document's chooser. */
export function getNamedUrlChooser(target: URL, { url, chooser, isPublic }: Namer): UrlChooser {
  if (url?.origin === target.origin) return chooser;
  return isPublic ? 'public_source' : 'private_source';
}

export function getUrlChooser({ isFromConfig }: { readonly isFromConfig?: true | undefined }): UrlChooser {
  return isFromConfig === true ? 'config' : 'operator';
}

const SETTING_OF: ReadonlyMap<Reach, string> = new Map([
  ['loopback', 'http.allowLoopback (ASSAY_HTTP_ALLOW_LOOPBACK=true)'],
  ['private', 'http.allowPrivate (ASSAY_HTTP_ALLOW_PRIVATE=true)'],
]);

/** What to do if a URL leads to such addresses, as a phrase. */
export function formatReachRemedy(reaches: readonly Reach[], chooser: UrlChooser): string {
  const settings = reaches.flatMap((reach) => SETTING_OF.get(reach) ?? []);
  if (settings.length === 0 || chooser === 'config') return 'no setting allows that';
  if (chooser === 'public_source')
    return 'a source at a public address may name public addresses only, so give the URL itself instead';
  return `to allow it, set ${settings.join(' or ')} in the environment or in "settings" of the config file`;
}

/** The URLs in a source's entry, each with the member that holds it. */
export function listNamedUrls({
  transport,
}: Pick<ServerSpec, 'transport'>): readonly { readonly field: string; readonly url: URL }[] {
  return getSourceKind(transport)
    .urls(transport)
    .flatMap(([field, text]) => {
      const url = text === undefined || !/^https?:/i.test(text) ? null : URL.parse(text);
      return url === null ? [] : [{ field, url }];
    });
}
