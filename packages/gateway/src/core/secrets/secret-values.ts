import type { ServerSpec } from '../server-spec.ts';
import { getSourceKind } from '../sources/source-kinds.ts';
import { isCredentialName } from '@assay-mcp/kit/credential-names';
import { isOfKnownShape } from '@assay-mcp/kit/secret-shapes';
import { hasReference } from './value-reference.ts';
import { MIN_SECRET_LENGTH } from './secrets.ts';

/** The secrets in a server's config entry: in its variables, arguments, URL and headers. */
export function listServerSecrets({ transport }: ServerSpec): readonly string[] {
  const {
    variables = [],
    args = [],
    urls = [],
    headers = [],
    secrets = [],
  } = getSourceKind(transport).secrets(transport);
  return [
    ...variables.flatMap(([name, value]) => listVariableSecrets(name, value)),
    ...secretsOfArguments(args),
    ...urls.flatMap((text) => urlOf(text) ?? []).flatMap(secretsOfUrl),
    ...headers.flatMap(secretsOfHeader),
    ...secrets,
  ].filter((value) => isTelling(value) && !hasReference(value));
}

/** The secrets in Assay's own environment. Most variables are not meant for Assay, so only names and URLs count. */
export function listEnvironmentSecrets(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env)
    .flatMap(([name, given = '']) => {
      // A proxy may be written without a scheme.
      const value = PROXY_NAME.test(name) && urlOf(given) === undefined ? `http://${given}` : given;
      return isCredentialName(name) || urlOf(value) !== undefined ? listVariableSecrets(name, value) : [];
    })
    .filter(isTelling);
}

const PROXY_NAME = /^https?_proxy$/i;

/**
 * In a URL, the password is secret, and so are parts of the path or query that are named like a key or look like one.
 * Any other value is secret if its name says so or if it looks random.
 */
export function listVariableSecrets(name: string, value: string): readonly string[] {
  const url = urlOf(value);
  if (url !== undefined) return secretsOfUrl(url);
  const isSecret = isCredentialName(name) ? !isPath(value) : looksRandom(value);
  return isSecret ? [value, ...secretsOfScheme(value)] : [];
}

/** Keys may be in files. A value with a run of characters as long as a key's does not count as a path. */
function isPath(value: string): boolean {
  return PATH.test(value) && !/[A-Za-z\d+]{16}/.test(value);
}

const PATH = /^(?:~?\/|\.{1,2}\/|[A-Za-z]:\\)/;

/** Headers that hold no secret; all others are presumed to. */
const HARMLESS_HEADERS =
  /^(?:accept|accept-(?:charset|encoding|language)|cache-control|content-(?:type|language|encoding)|date|from|host|origin|pragma|prefer|referer|traceparent|tracestate|user-agent|via|.*-version)$/i;

function secretsOfHeader([name, value]: readonly [string, string]): readonly string[] {
  return HARMLESS_HEADERS.test(name) ? [] : listHeaderSecrets(value).filter(isTelling);
}

/** The value of a header, and the credentials in it (RFC 9110, section 11.4). */
export function listHeaderSecrets(value: string): readonly string[] {
  return [value, ...secretsOfScheme(value)];
}

/** The credentials after the scheme name, and the user with the password, and the password, in basic ones (RFC 7617). */
function secretsOfScheme(value: string): readonly string[] {
  const [, scheme = '', credentials = ''] = /^([A-Za-z][\w-]{0,20}) +(\S+)$/.exec(value.trim()) ?? [];
  if (credentials === '') return [];
  if (scheme.toLowerCase() !== 'basic') return [credentials];
  const pair = Buffer.from(credentials, 'base64').toString();
  return [credentials, pair, pair.slice(pair.indexOf(':') + 1)];
}

/** `--api-key=x` and `--api-key x`, URLs, and values that look random. */
function secretsOfArguments(args: readonly string[]): readonly string[] {
  return args.flatMap((arg, index) => {
    const [, name = '', value = ''] = /^-{0,2}([A-Za-z][\w-]*)[=:](.+)$/s.exec(arg) ?? [];
    if (name !== '' && urlOf(arg) === undefined) return listVariableSecrets(name, value);
    const before = args[index - 1] ?? '';
    return listVariableSecrets(/^-{1,2}[A-Za-z][\w-]*$/.test(before) ? before : '', arg);
  });
}

function secretsOfUrl(url: URL): readonly string[] {
  const query = [...url.searchParams].flatMap(([name, value]) =>
    isCredentialName(name) || looksRandom(value) ? [value] : [],
  );
  const path = url.pathname.split('/').map(decoded).filter(isKeyInUrl);
  const password = decoded(url.password);
  const user = url.password === '' ? [] : [`${decoded(url.username)}:${password}`];
  return [...user, password, ...query, ...path].filter(isTelling);
}

function urlOf(text: string): URL | undefined {
  return /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? (URL.parse(text) ?? undefined) : undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const COMMON: ReadonlySet<string> = new Set([
  ...[
    'administrator',
    'anonymous',
    'authorization',
    'automatic',
    'basic auth',
    'changeme',
    'database',
    'default',
  ],
  ...['development', 'disabled', 'localhost', 'optional', 'password', 'postgres', 'production', 'required'],
  ...['undefined', 'unlimited', 'username'],
]);

/** Whether a value can be masked everywhere without making texts unreadable. */
function isTelling(value: string): boolean {
  return value.length >= MIN_SECRET_LENGTH && !COMMON.has(value.toLowerCase());
}

/** Whether a part of a URL looks like a key. Some keys are UUIDs, which elsewhere are mostly ids. */
export function isKeyInUrl(part: string): boolean {
  return looksRandom(part) || /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(part);
}

/** Parts of a URL template that look like keys, and values of its query that are named like one. */
export function findTemplateKeys(url: string): readonly string[] {
  const named = [...url.matchAll(/[?&]([^=&#{}]+)=([^&#{}]+)/g)].flatMap(([, name = '', value = '']) =>
    isCredentialName(name) ? [value] : [],
  );
  return [...named, ...url.split(/\{[^{}]*\}|[/?&=#]/).filter(isKeyInUrl)];
}

/** Minimum length of a run of letters and digits, and minimum entropy in bits per character, to look random. */
const MIN_RUN_LENGTH = 16;
const MIN_BITS = 3;

/** Mixed letters and digits without a pattern; not a path, version, date, UUID or words. */
export function looksRandom(value: string): boolean {
  if (isOfKnownShape(value)) return true;
  if (/\s/.test(value) || PATH.test(value)) return false;
  const runs = value.match(/[A-Za-z0-9]+/g) ?? [];
  return runs.some(
    (run) =>
      run.length >= MIN_RUN_LENGTH &&
      /[A-Za-z]/.test(run) &&
      (run.match(/\d/g) ?? []).length >= 3 &&
      bitsOf(run) >= MIN_BITS,
  );
}

/** Shannon entropy in bits per character. */
function bitsOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
