import type { ServerSpec } from './server-spec.ts';
import { sourceKind } from './sources/source-kinds.ts';

/** Where an address leads, as `platform/addresses.ts` tells it. */
export type Reach = 'public' | 'private' | 'loopback' | 'link-local' | 'metadata' | 'reserved';

/**
 * Who chose a URL: the config file, an operator while Assay ran (API, commands, bundles), or a document or server that
 * names it, which is itself at a public address or not.
 */
export type UrlChooser = 'config' | 'operator' | 'public_source' | 'private_source';

export interface ReachSettings {
  /** Whether other machines can reach Assay itself. */
  readonly isOnNetwork: boolean;
  readonly allowLoopback: boolean;
  readonly allowPrivate: boolean;
}

/** Where connections may lead, by who chose the URL. */
export type ReachRules = Readonly<Record<UrlChooser, ReadonlySet<Reach>>>;

/**
 * The one rule for every kind of source. The config file belongs to whoever runs Assay, and may name all but what hands out
 * credentials. An operator may name what is public, what the settings allow, and this machine where nobody else can be the
 * operator. What others name is public, unless they are themselves where the settings let requests go.
 */
export function reachRules({ isOnNetwork, allowLoopback, allowPrivate }: ReachSettings): ReachRules {
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
  };
}

/** A document or server that names URLs. */
export interface Namer {
  /** Undefined: a file. */
  readonly url: URL | undefined;
  /** Who chose its URL. */
  readonly chooser: UrlChooser;
  /** Whether it is at a public address, or came by way of one. */
  readonly isPublic: boolean;
}

/** What is at the origin of whoever names it is where it is already. */
export function chooserOfNamed(target: URL, { url, chooser, isPublic }: Namer): UrlChooser {
  if (url?.origin === target.origin) return chooser;
  return isPublic ? 'public_source' : 'private_source';
}

export function chooserOf({ isFromConfig }: { readonly isFromConfig?: true | undefined }): UrlChooser {
  return isFromConfig === true ? 'config' : 'operator';
}

const SETTING_OF: ReadonlyMap<Reach, string> = new Map([
  ['loopback', 'http.allowLoopback (ASSAY_HTTP_ALLOW_LOOPBACK=true)'],
  ['private', 'http.allowPrivate (ASSAY_HTTP_ALLOW_PRIVATE=true)'],
]);

/** What to do where a URL leads to such addresses, as a phrase. */
export function reachRemedy(reaches: readonly Reach[], chooser: UrlChooser): string {
  const settings = reaches.flatMap((reach) => SETTING_OF.get(reach) ?? []);
  if (settings.length === 0 || chooser === 'config') return 'no setting allows that';
  if (chooser === 'public_source')
    return 'what is at a public address may name public addresses alone, so give the URL itself instead';
  return `to allow it, set ${settings.join(' or ')} in the environment or in "settings" of the config file`;
}

/** The URLs that an entry of a source itself names, each with the member that holds it. */
export function namedUrls({
  transport,
}: Pick<ServerSpec, 'transport'>): readonly { readonly field: string; readonly url: URL }[] {
  return sourceKind(transport)
    .urls(transport)
    .flatMap(([field, text]) => {
      const url = text === undefined || !/^https?:/i.test(text) ? null : URL.parse(text);
      return url === null ? [] : [{ field, url }];
    });
}
