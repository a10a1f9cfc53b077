import { dirname, isAbsolute } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { getNamedUrlChooser, type Namer, type UrlChooser } from '../../../core/reach-rules.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { resolveRealPath } from '@assay-mcp/kit/platform/files';
import type { HttpPort } from '../http/open-http.ts';
import { isInside } from '@assay-mcp/kit/platform/is-inside';

/** Where documents are read from. */
export interface TextOptions {
  /** An absolute path, an http(s) URL, or any other URL if there is `text`. */
  readonly document: string;
  /** The document itself, if it was uploaded. */
  readonly text?: string | undefined;
  /** Who chose the document and `baseUrl`. */
  readonly chosenBy: UrlChooser;
  /** Replaces the servers of the document. */
  readonly baseUrl?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly http: HttpPort;
  readonly readFile: (path: string, maxBytes: number) => Promise<Result<string, string>>;
}

/** Reads the documents of one source. Errors are phrases that follow the document's name. */
export interface DocumentTexts {
  /** URL of the document itself. */
  readonly root: string;
  /** `namedAt`: the document that refers to this one; needed for its first read only. */
  read(url: string, limits: TextLimits, namedAt?: string): Promise<Result<string, string>>;
  /** Who chose a URL that the document at `at` contains. */
  chooserOf(target: URL, at: string): UrlChooser;
}

export interface TextLimits {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** The error is a phrase: why the location is invalid. */
export function openDocumentTexts(options: TextOptions): Result<DocumentTexts, string> {
  const { text } = options;
  // With a slash, so that relative references can be told from absolute ones.
  const root = text === undefined ? rootOf(options.document) : new URL(options.document.replace(':', ':/'));
  if (root === undefined) return err('is neither an absolute path nor a URL of http or https');
  const namers = new Map<string, Namer>();
  const { chosenBy } = options;
  const chooserIn = (target: URL, at: string): UrlChooser => {
    const namer = namers.get(at);
    return namer === undefined ? 'public_source' : getNamedUrlChooser(target, namer);
  };
  return ok({
    root: root.href,
    chooserOf: chooserIn,
    read: async (url, limits, namedAt) => {
      const target = new URL(url);
      if (text !== undefined && url === root.href) {
        namers.set(url, { url: undefined, chooser: chosenBy, isPublic: false });
        return ok(text);
      }
      if (target.protocol === 'file:') {
        namers.set(url, { url: undefined, chooser: chosenBy, isPublic: false });
        return readLocal(target, root, { options, limits });
      }
      if (text !== undefined && target.protocol === root.protocol)
        return err('is relative, and an uploaded document has no folder: register it by its URL or path');
      if (!isWeb(target)) return err(`is reached by ${target.protocol}, which is not read`);
      const before = namers.get(url)?.chooser ?? 'public_source';
      const named = namedAt === undefined ? before : chooserIn(target, namedAt);
      const chooser = url === root.href ? chosenBy : named;
      // Counts as public until the read shows where its text came from.
      namers.set(url, { url: target, chooser, isPublic: true });
      const read = await fetchText(target, root, { options, limits, chooser });
      if (!read.ok) return read;
      namers.set(url, { url: target, chooser, isPublic: read.value.isPublic });
      return ok(read.value.text);
    },
  });
}

interface Reading {
  readonly options: TextOptions;
  readonly limits: TextLimits;
}

interface FetchOptions extends Reading {
  readonly chooser: UrlChooser;
}

interface Fetched {
  readonly text: string;
  /** Whether a public address sent it or redirected to it. */
  readonly isPublic: boolean;
}

function rootOf(document: string): URL | undefined {
  if (isAbsolute(document)) return pathToFileURL(document);
  const url = URL.canParse(document) ? new URL(document) : undefined;
  if (url === undefined || !isWeb(url)) return undefined;
  url.hash = '';
  return url;
}

function isWeb(url: URL): boolean {
  return url.protocol === 'https:' || url.protocol === 'http:';
}

async function readLocal(
  target: URL,
  root: URL,
  { options, limits }: Reading,
): Promise<Result<string, string>> {
  if (root.protocol !== 'file:') return err('is a file, which only a document that is a file may name');
  const path = pathOf(target);
  if (path === undefined) return err('is not a path on this machine');
  if (target.href !== root.href && !(await isBeneath(path, dirname(fileURLToPath(root)))))
    return err('lies outside of the folder of the document');
  const text = await options.readFile(path, limits.maxBytes);
  return text.ok ? ok(text.value.replace(/^\uFEFF/, '')) : text;
}

/** Undefined for a host or an encoded separator: the path checked would not be the path read. */
function pathOf(url: URL): string | undefined {
  try {
    return url.host === '' ? fileURLToPath(url) : undefined;
  } catch {
    return undefined;
  }
}

/** Resolves symbolic links first: one may lead out of the folder. */
async function isBeneath(path: string, folder: string): Promise<boolean> {
  return isInside(await resolveRealPath(path), await resolveRealPath(folder));
}

async function fetchText(
  target: URL,
  root: URL,
  { options, limits, chooser }: FetchOptions,
): Promise<Result<Fetched, string>> {
  const headers = ownHeaders(target, root, options);
  const answer = await options.http.send({
    method: 'GET',
    url: target,
    chosenBy: chooser,
    headers: [['Accept', 'application/json, application/yaml, */*;q=0.8'], ...headers],
    secretHeaders: headers.map(([name]) => name),
    maxBytes: limits.maxBytes,
    cancellation: Cancellation.following(limits.signal),
  });
  if (!answer.ok) return err(`cannot be fetched: ${answer.error}`);
  const { status, body, isCut, isPublic } = answer.value;
  if (status !== 200) return err(`cannot be fetched: its server answers with status ${status}`);
  if (isCut) return err(`is larger than ${limits.maxBytes} bytes`);
  return ok({ text: body.toString('utf8').replace(/^\uFEFF/, ''), isPublic });
}

/**
 * Sends the operator's API headers for a document only if it has the API's origin: fetching a document from elsewhere
 * must not leak the API key.
 */
function ownHeaders(target: URL, root: URL, options: TextOptions): readonly (readonly [string, string])[] {
  const { baseUrl, headers } = options;
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return [];
  const isHome = [target, root].every((url) => url.origin === new URL(baseUrl).origin);
  return isHome ? Object.entries(headers) : [];
}
