import type { CauseCode } from '../../../core/cause.ts';
import { gatewayIdOf } from '../../../core/hints/hint.ts';
import type { ServerSpec } from '../../../core/server-spec.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { serverStatuses, type ServerStatus } from '../../catalog/server-status.ts';
import type { ToolClaims, Trust } from '../../catalog/tool-claims.ts';
import type { GatewayWord } from '../../ports/gateways.ts';
import type { Skipped } from '../../ports/link.ts';
import type { Server } from '../../catalog/server.ts';
import type { Words } from '../../catalog/words.ts';

/** A server as the REST API shows it, without anything secret. */
export interface GatewayView extends Way {
  readonly id: string;
  readonly name: string;
  /** Where it comes from: what the config file has is fixed here. */
  readonly origin: 'config_file' | 'registered';
  readonly reachable: boolean;
  readonly state: ServerStatus['state'];
  /** Why it is down, or why its tools are those of an earlier reading. */
  readonly cause?: string | undefined;
  readonly causeCode?: CauseCode | undefined;
  readonly era?: string | undefined;
  readonly revision?: string | undefined;
  readonly trust?: Trust | undefined;
  readonly toolCount: number;
  /** What its source has that no tool could be made of. */
  readonly skipped?: readonly Skipped[] | undefined;
  /** Whether one of this name was registered too, and does not run, as the config file goes first. */
  readonly shadows?: true | undefined;
  readonly createdAt?: string | undefined;
  readonly createdBy?: string | undefined;
}

/** How a server is reached. */
export interface Way {
  readonly transport?: 'stdio' | 'auto' | 'streamable-http' | 'sse' | 'openapi' | 'local' | undefined;
  /** The OpenAPI document. */
  readonly openapi?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** Names of security schemes alone. */
  readonly credentials?: readonly string[] | undefined;
  readonly url?: string | undefined;
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly cwd?: string | undefined;
  /** Names alone. */
  readonly env?: readonly string[] | undefined;
  /** Names alone. */
  readonly headers?: readonly string[] | undefined;
  readonly timeoutMs?: number | undefined;
  readonly prefix?: boolean | undefined;
  readonly isolation?: ServerSpec['isolation'] | undefined;
}

export interface Viewing {
  readonly catalog: Catalog;
  readonly words: Words;
  readonly claims: ToolClaims;
  readonly mask: (text: string) => string;
}

/** In the catalog's order; those that cannot be tried last. */
export function gatewayViews(viewing: Viewing): readonly GatewayView[] {
  const { catalog, words, claims, mask } = viewing;
  const servers = new Map<string, Server>(catalog.servers.map((server) => [server.spec.name, server]));
  const registered = new Map(
    words.all('gateway').map(({ body }) => {
      const word = body as GatewayWord; // written by the service of such records
      return [word.name, word] as const;
    }),
  );
  const seen = new Set<string>();
  return serverStatuses(catalog).flatMap((condition) => {
    const { name, state, era, revision } = condition;
    if (seen.has(name)) return [];
    seen.add(name);
    const spec = servers.get(name)?.spec;
    const skipped = servers.get(name)?.link?.skipped ?? [];
    const isFixed = catalog.isFromConfig(name);
    const word = isFixed ? undefined : registered.get(name);
    return [
      {
        id: gatewayIdOf(name),
        name,
        ...(spec && wayOf(spec, mask)),
        origin: isFixed ? 'config_file' : 'registered',
        reachable: state === 'up',
        state,
        ...shownCause(condition, mask),
        ...(era !== undefined && { era }),
        ...(revision !== undefined && { revision }),
        ...(spec && { trust: claims.trustOf(spec) }),
        toolCount: servers.get(name)?.inventory.tools.length ?? 0,
        ...(skipped.length > 0 && { skipped: skipped.map(({ what, why }) => ({ what, why })) }),
        ...(isFixed && registered.has(name) && { shadows: true as const }),
        ...(word && { createdAt: new Date(word.createdMs).toISOString(), createdBy: word.author }),
      },
    ];
  });
}

function shownCause(
  { cause, causeCode, listFaults }: ServerStatus,
  mask: Viewing['mask'],
): Pick<GatewayView, 'cause' | 'causeCode'> {
  const shown = cause === undefined ? listFaults?.[0] : { cause, causeCode };
  return shown === undefined ? {} : { cause: mask(shown.cause), causeCode: shown.causeCode };
}

export function wayOf(
  { transport, timeoutMs, prefix, isolation }: ServerSpec,
  mask: (text: string) => string,
): Way {
  const common = { timeoutMs, prefix, isolation };
  if (transport.kind === 'http') {
    const { flavour, url, headers } = transport;
    const names = Object.keys(headers);
    return {
      transport: flavour === 'streamable' ? 'streamable-http' : flavour,
      url: mask(url.href),
      ...(names.length > 0 && { headers: names }),
      ...common,
    };
  }
  if (transport.kind === 'local') return { transport: 'local', timeoutMs };
  if (transport.kind === 'openapi') {
    const { document, baseUrl, headers, credentials } = transport;
    const names = Object.keys(headers);
    const schemes = Object.keys(credentials);
    return {
      transport: 'openapi',
      openapi: mask(document),
      ...(baseUrl !== undefined && { baseUrl: mask(baseUrl) }),
      ...(names.length > 0 && { headers: names }),
      ...(schemes.length > 0 && { credentials: schemes }),
      timeoutMs,
      prefix,
    };
  }
  const { command, args, cwd, env } = transport;
  const names = Object.keys(env);
  return {
    transport: 'stdio',
    command,
    args: args.map(mask),
    cwd,
    ...(names.length > 0 && { env: names }),
    ...common,
  };
}
