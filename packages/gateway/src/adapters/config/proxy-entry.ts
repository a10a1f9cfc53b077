import { readProxyUrl } from '@assay-mcp/kit/outbound';
import { err } from '@assay-mcp/kit/result';
import { described, flag, text, withSchema } from '@assay-mcp/kit/json-reader';
import type { ProxySpec } from '../../core/server-spec.ts';
import {
  type Entry,
  type EntryMembers,
  expandCredentialsAt,
  findPositionAt,
  readOptionAt,
} from './entry-fields.ts';

/** A test compares the descriptions with docs/CONFIG.md. */
export const PROXY_MEMBERS: EntryMembers = {
  proxy: described(
    'URL of the HTTP proxy for requests of this entry, with user and password if required; overrides the proxy of the environment; false: no proxy',
    withSchema(text, () => ({
      anyOf: [{ type: 'string', pattern: '^[Hh][Tt][Tt][Pp][Ss]?://|\\$\\{' }, { const: false }],
    })),
  ),
  proxyResolves: described(
    'whether the proxy may resolve host names that Assay cannot; their addresses are then not checked',
    flag,
  ),
};

/** Reads how the requests of an entry leave. An error in it makes the entry invalid. */
export function readProxy(entry: Entry): ProxySpec {
  const proxyResolves = readOptionAt(entry, 'proxyResolves', flag);
  const proxy = readProxyAt(entry);
  return {
    ...(proxy !== undefined && { proxy }),
    ...(proxyResolves !== undefined && { proxyResolves }),
  };
}

/** `false`, or the URL as it is written, with its variables expanded. */
function readProxyAt(entry: Entry): string | false | undefined {
  const position = findPositionAt(entry, 'proxy');
  if (position === undefined) return undefined;
  const { node } = position;
  if (node.type === 'boolean' && node.value === false) return false;
  const filled = expandCredentialsAt(entry, position, 'proxy');
  if (filled === undefined) return undefined;
  // The value is not repeated: it may contain a password.
  const url = /^https?:\/\//i.test(filled.shape)
    ? readProxyUrl(filled.shape)
    : err('it does not begin with http:// or https://');
  if (url.ok) return filled.text;
  const remedy = 'Write http://USER:PASSWORD@HOST:PORT, or false for none.';
  entry.collector.problem(position, `this is not the URL of a proxy: ${url.error}`, remedy);
  return undefined;
}
