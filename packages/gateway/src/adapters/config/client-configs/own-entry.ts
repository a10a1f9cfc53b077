import type { JsonObject } from '@assay-mcp/kit/json-object';
import type { EntryShape } from './entry-shapes.ts';

/** The command that starts this program: an executable and its first arguments. */
export type OwnCommand = readonly string[];

/** Inputs for Assay's entry in a client's config. */
export interface EntryRequest {
  readonly shape: EntryShape;
  readonly platform: string;
  readonly ownCommand: OwnCommand;
  /** Command options, with absolute paths. */
  readonly options: readonly string[];
  /** Undefined for an entry with a command. */
  readonly url: string | undefined;
}

/** Package name, for installations that are not permanent. */
const PACKAGE = 'assay-mcp';

export function buildOwnEntry(request: EntryRequest): JsonObject {
  const { shape, url } = request;
  if (url !== undefined && shape.http !== undefined) return shape.http(url);
  const [command = '', ...args] = startOf(request);
  return shape.stdio(command, args);
}

/** npx keeps a download only until its cache is cleaned or a new version appears. */
export function isShortLived(ownCommand: OwnCommand): boolean {
  return ownCommand.some((part) => /[\\/]_npx[\\/]/.test(part));
}

function startOf({ ownCommand, options, platform }: EntryRequest): readonly string[] {
  const npx = platform === 'win32' ? ['cmd', '/c', 'npx'] : ['npx'];
  const start = isShortLived(ownCommand) ? [...npx, '-y', PACKAGE] : ownCommand;
  return [...start, 'stdio', '--attach', ...options];
}

/**
 * Whether an entry points to Assay's gateway: as its own upstream server it would call itself without end. `assay
 * codebase` is a server like any other.
 */
export function isAssay(entry: JsonObject, ownCommand: OwnCommand): boolean {
  const url = getEntryUrl(entry);
  if (typeof url === 'string' && isOwnAddress(url)) return true;
  const { command, args } = entry;
  const words = [command, args].flat().filter((word) => typeof word === 'string');
  const main = ownCommand.at(-1) ?? '';
  return words.some(
    (word, index) =>
      words[index + 1] !== 'codebase' &&
      (word === main ||
        isOwnAddress(word) ||
        /^assay-mcp(?:@[\w.^~-]+)?$/.test(word) ||
        /[\\/]assay(?:-mcp)?[\\/]dist[\\/]main\.js$/.test(word) ||
        (index === 0 && /(?:^|[\\/])assay(?:-mcp)?(?:\.cmd|\.exe|\.ps1)?$/i.test(word))),
  );
}

/** The URL of an entry, whichever key holds it. */
export function getEntryUrl(entry: JsonObject): unknown {
  return entry['url'] ?? entry['serverUrl'] ?? entry['httpUrl'];
}

/** Whether this is the endpoint of a local Assay on its default port. */
function isOwnAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url?.protocol !== 'http:' || url.port !== '4444') return false;
  return ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname) && /^\/mcp(?:\/|$)/.test(url.pathname);
}
