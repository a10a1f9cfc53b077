import { isJsonObject } from '@assay-mcp/kit/json-object';
import { hasReference } from '../../../core/secrets/value-reference.ts';
import type { ConfigEntry } from '../../ports/config-entries.ts';

/** Members that start or confine a process. */
const PROCESS_MEMBERS = [
  'command',
  'args',
  'env',
  'cwd',
  'sandbox',
  'roots',
  'network',
  'sandboxAccepts',
  'headerCommand',
];

/** Members that name files of this machine. */
const FILE_MEMBERS = ['clientCertificate', 'ca'];

/**
 * Members that change who carries the traffic of an entry, or take a check away from it, while its credentials, sign-ins
 * and overrides stay: unlike those, they are not bound to the origin of its URL.
 */
const PROXY_MEMBERS = ['proxy', 'proxyResolves'];

/** Values of `type` for which Assay starts no process. Every other kind requires the scope. */
const URL_TYPES: readonly unknown[] = ['http', 'streamable-http', 'streamableHttp', 'sse', 'openapi'];

/** Values that are read by Assay when a server is connected: see `readReference`. */
function refers(value: unknown): boolean {
  if (typeof value === 'string') return hasReference(value);
  if (typeof value !== 'object' || value === null) return false;
  // `{"command": […]}` as a value.
  return Object.values(value).some(
    (member) => refers(member) || (isJsonObject(member) && 'command' in member),
  );
}

/**
 * Whether adding this entry, or changing these members of one, requires the `execute` scope: it starts a process or
 * reads a file or a secret of this machine, or names a proxy.
 */
export function needsExecute(entry: ConfigEntry): boolean {
  const { type, openapi, auth } = entry;
  const isKeyRead = isJsonObject(auth) && 'privateKeyFile' in auth;
  const isPath = typeof openapi === 'string' && !/^https?:\/\//i.test(openapi);
  const isGiven = (member: string): boolean => (entry[member] ?? undefined) !== undefined;
  return (
    isPath ||
    isKeyRead ||
    refers(entry) ||
    [...PROCESS_MEMBERS, ...FILE_MEMBERS, ...PROXY_MEMBERS].some(isGiven) ||
    (isGiven('type') && !URL_TYPES.includes(type))
  );
}
