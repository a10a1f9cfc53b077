/** The Bearer challenge of an HTTP 401 or 403 (RFC 6750, section 3; RFC 9728, section 5.1). */
export interface BearerChallenge {
  readonly error: string | undefined;
  readonly scope: string | undefined;
  readonly resourceMetadata: URL | undefined;
}

const MAX_LENGTH = 8_192;

/** Undefined if the header has no Bearer challenge. */
export function parseBearerChallenge(wwwAuthenticate: string | undefined): BearerChallenge | undefined {
  const text = (wwwAuthenticate ?? '').slice(0, MAX_LENGTH);
  const start = /(?:^|,\s*)Bearer(?=\s|,|$)/i.exec(text);
  if (start === null) return undefined;
  const parameters = parametersOf(text.slice(start.index + start[0].length));
  return {
    error: parameters.get('error'),
    scope: parameters.get('scope'),
    resourceMetadata: URL.parse(parameters.get('resource_metadata') ?? '') ?? undefined,
  };
}

const PARAMETER = /([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g;

/** Of two parameters with the same name, the first counts; the second may belong to another scheme. */
function parametersOf(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [, name = '', quoted, plain = ''] of text.matchAll(PARAMETER))
    if (!found.has(name.toLowerCase()))
      found.set(name.toLowerCase(), quoted?.replace(/\\(.)/g, '$1') ?? plain);
  return found;
}

/** The scopes of several lists, without duplicates. */
export function mergeScopes(...lists: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(lists.flatMap((list) => list?.split(/\s+/) ?? []).filter((scope) => scope !== ''))];
}
