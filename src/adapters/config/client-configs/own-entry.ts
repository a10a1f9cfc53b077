import type { Client } from './clients.ts';

/** What starts this program: an executable and its first arguments. */
export type OwnCommand = readonly string[];

/** What the entry of Assay in a client's config says. */
export interface EntryRequest {
  readonly client: Client;
  readonly urlKey: Client['urlKey'];
  readonly platform: string;
  readonly ownCommand: OwnCommand;
  /** Options for the command, absolute paths in them. */
  readonly options: readonly string[];
  /** Undefined: by command. */
  readonly url: string | undefined;
}

/** The package, for a machine on which this program does not stay. */
const PACKAGE = 'assay-mcp';

export function ownEntry(wish: EntryRequest): Readonly<Record<string, unknown>> {
  const { client, url, urlKey } = wish;
  if (url !== undefined && urlKey !== undefined)
    return { ...(client.isTyped ? { type: 'http' } : {}), [urlKey]: url };
  const [command, ...args] = startOf(wish);
  return { ...(client.isTyped ? { type: 'stdio' } : {}), command, args };
}

/** npx keeps what it downloads until the next cleaning, or the next version. */
export function isShortLived(ownCommand: OwnCommand): boolean {
  return ownCommand.some((part) => /[\\/]_npx[\\/]/.test(part));
}

function startOf({ ownCommand, options, platform }: EntryRequest): readonly string[] {
  const npx = platform === 'win32' ? ['cmd', '/c', 'npx'] : ['npx'];
  const start = isShortLived(ownCommand) ? [...npx, '-y', PACKAGE] : ownCommand;
  return [...start, 'stdio', '--attach', ...options];
}

/** Whether an entry leads to Assay: a server of itself would call itself without end. */
export function isAssay(entry: Readonly<Record<string, unknown>>, ownCommand: OwnCommand): boolean {
  const url = entry['url'] ?? entry['serverUrl'];
  if (typeof url === 'string' && isOwnAddress(url)) return true;
  const { command, args } = entry;
  const given: readonly unknown[] = Array.isArray(args) ? args : [];
  const words = [command, ...given].filter((word) => typeof word === 'string');
  const main = ownCommand.at(-1) ?? '';
  return words.some(
    (word, index) =>
      word === main ||
      isOwnAddress(word) ||
      /^assay-mcp(?:@[\w.^~-]+)?$/.test(word) ||
      /[\\/]assay(?:-mcp)?[\\/]dist[\\/]main\.js$/.test(word) ||
      (index === 0 && /(?:^|[\\/])assay(?:-mcp)?(?:\.cmd|\.exe|\.ps1)?$/i.test(word)),
  );
}

/** The port is Assay's own by default; what else listens on it on this machine is no MCP server to join. */
function isOwnAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url?.protocol !== 'http:' || url.port !== '4444') return false;
  return ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname) && /^\/mcp(?:\/|$)/.test(url.pathname);
}
