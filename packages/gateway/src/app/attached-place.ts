import { type ConfigEnvironment, loadConfig } from '../adapters/config/load-config.ts';
import type { AttachRequest } from '../core/attach.ts';
import { computeOriginIdentity, isSameTransport } from '../core/server-identity.ts';
import type { ServerSpec } from '../core/server-spec.ts';
import type { AttachedClient } from '../gateway/catalog/client-session.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';

interface Place extends Pick<AttachedClient, 'specFor'> {
  readonly notes: readonly string[];
}

interface PlaceOptions {
  readonly configPath: string;
  /** That of the gateway. */
  readonly configEnvironment: ConfigEnvironment;
  /** The entries of the servers that run now. */
  readonly specs: () => readonly ServerSpec[];
}

/**
 * Reads the config as the client's folder and variables make it. An entry that differs only in what its server is given
 * (variables, headers, a folder) is the client's own. If an entry would start or call something else, the client cannot
 * share this gateway, because what operators decided about a server must not depend on who attaches.
 */
export function openAttachedPlace(
  { cwd, variables }: AttachRequest,
  options: PlaceOptions,
): Result<Place, string> {
  const { configPath, configEnvironment, specs } = options;
  const { env } = configEnvironment;
  const clientEnv = Object.fromEntries(
    Object.entries({ ...env, ...variables }).map(([name, value]) => [name, value ?? undefined]),
  );
  /** Undefined: the config cannot be read now, so the gateway goes on with what it has. */
  const read = (): ReadonlyMap<string, ServerSpec> | undefined => {
    const config = loadConfig(configPath, { ...configEnvironment, cwd, env: clientEnv });
    return config.ok ? new Map(config.value.servers.map((spec) => [spec.name, spec])) : undefined;
  };
  let own = read();
  const other = specs().find(
    (spec) => own !== undefined && spec.isFromConfig && isOther(spec, own.get(spec.name)),
  );
  if (other !== undefined)
    return err(`the server ${other.name} is another one in the folder of this client, or with its variables`);
  /** By the entry of the running server, which is another object after each change. */
  const known = new WeakMap<ServerSpec, { readonly spec: ServerSpec | undefined }>();
  const names = new Set<string>();
  const specFor = (spec: ServerSpec): ServerSpec | undefined => {
    const before = known.get(spec);
    if (before !== undefined) return before.spec;
    if (names.has(spec.name)) own = read();
    names.add(spec.name);
    const found = findOwn(spec, own?.get(spec.name));
    known.set(spec, { spec: found });
    return found;
  };
  const separate = specs().filter((spec) => specFor(spec) !== undefined);
  const different = Object.keys(variables).filter((name) => (variables[name] ?? undefined) !== env[name]);
  return ok({ specFor, notes: writeNotes(separate, different) });
}

function isOther(spec: ServerSpec, own: ServerSpec | undefined): boolean {
  // Without one of its variables there is none: it must not get the value of another client.
  return own === undefined || computeOriginIdentity(spec) !== computeOriginIdentity(own);
}

function findOwn(spec: ServerSpec, own: ServerSpec | undefined): ServerSpec | undefined {
  // After a change of the config, it may have become another server.
  if (own === undefined || !spec.isFromConfig || isOther(spec, own)) return undefined;
  const { transport } = own;
  // Code search without roots searches the folder of its client.
  const isInFolder = transport.kind === 'codebase' && transport.roots === undefined;
  const placed = isInFolder ? own : startedWhere(own, spec);
  return isSameTransport(spec, placed) ? undefined : { ...spec, transport: placed.transport };
}

/** The entry, started in the folder of the running server unless it names one. */
function startedWhere(own: ServerSpec, { transport: running }: ServerSpec): ServerSpec {
  const { transport } = own;
  if (!('cwd' in transport) || !('cwd' in running)) return own;
  if (transport.kind === 'stdio' && transport.isCwdGiven === true) return own;
  return { ...own, transport: { ...transport, cwd: running.cwd } };
}

function writeNotes(separate: readonly ServerSpec[], variables: readonly string[]): readonly string[] {
  const servers = separate.map(({ name }) => name).join(', ');
  return [
    ...(separate.length > 0
      ? [`this client has its own connection to ${servers}, because of its folder or its variables`]
      : []),
    ...(variables.length > 0
      ? [`the running gateway has other values of ${variables.join(', ')}, which count for everything else`]
      : []),
  ];
}
