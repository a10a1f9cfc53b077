import type { ServerSpec } from '../../src/core/server-spec.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { getDefaultSettings } from '../../src/core/resolve-settings.ts';
import type { FixedLimits } from '../../src/core/fixed-limits.ts';
import type { Settings } from '../../src/core/settings.ts';
import { relayDeps, type RelayDeps } from '../../src/gateway/catalog/call-deps.ts';
import { EMPTY_INVENTORY, LISTS } from '../../src/gateway/catalog/inventory.ts';
import type { Connect, Definition, Link, ListKind, Memory } from '../../src/gateway/ports/link.ts';
import type { Log } from '../../src/gateway/ports/log.ts';
import type { StartLimiter } from '../../src/gateway/catalog/start-limiter.ts';
import { Server } from '../../src/gateway/catalog/server.ts';
import { checkListable } from '@assay-mcp/protocol/listable';
import { readServerMessage, type ResponseMessage } from '@assay-mcp/protocol/message';
import type { Json } from '../../../../test/support/json.ts';

export const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** For servers that send no requests. */
export const NOTHING_ASKS: RelayDeps = relayDeps({
  sealer: {
    seal: () => Promise.reject(new Error('nothing is sealed here')),
    open: () => Promise.resolve(err({ code: 'STATE_INVALID', reason: 'nothing is sealed here' })),
  },
  replica: 'test',
  limits: getDefaultSettings(),
});

const NO_MEMORY: Memory = {
  recall: () => undefined,
  remember() {},
  recallAbsence: () => false,
  rememberAbsence() {},
};

type Lists = Partial<Readonly<Record<ListKind, readonly (Json | Definition)[]>>>;

/** An entry of a list as a server wrote it. */
export function definition(kind: ListKind, value: Json): Definition {
  const facts = LISTS[kind];
  const key = (value as Readonly<Record<string, Json>>)[facts.key];
  return {
    key: typeof key === 'string' ? key : undefined,
    bytes: Buffer.from(JSON.stringify(value)),
    fitness: {
      legacy: checkListable(facts.kind, 'legacy', value),
      modern: checkListable(facts.kind, 'modern', value),
    },
  };
}

/** A tool that every client accepts. */
export function tool(name: string, more: Readonly<Record<string, Json>> = {}): Json {
  return { name, inputSchema: { type: 'object' }, ...more };
}

export function resource(uri: string): Json {
  return { name: 'r', uri };
}

export function template(uriTemplate: string): Json {
  return { name: 't', uriTemplate };
}

export interface Given extends Partial<Pick<ServerSpec, 'prefix' | 'toolFilter' | 'trust' | 'keepAlive'>> {
  readonly connect?: Connect;
  readonly starts?: StartLimiter;
  readonly transport?: ServerSpec['transport'];
  readonly limits?: Partial<Settings & FixedLimits>;
  /** How long its process runs unused, in ms. Undefined: always. */
  readonly idleMs?: number;
  /** Its lists as remembered from before. */
  readonly remembered?: Lists;
  readonly log?: Log;
  readonly onChange?: () => void;
}

/** A server that has these lists but has not been started. */
export function listed(name: string, lists: Lists = {}, given: Given = {}): Server {
  const { transport = { kind: 'stdio', command: 'none', args: [], env: {}, cwd: '/' } } = given;
  const server = new Server(
    {
      name,
      transport,
      timeoutMs: 60_000,
      prefix: given.prefix ?? true,
      isolation: 'shared',
      toolFilter: given.toolFilter,
      ...(given.trust !== undefined && { trust: given.trust }),
      ...(given.keepAlive !== undefined && { keepAlive: given.keepAlive }),
    },
    {
      connect: given.connect ?? (() => new Promise(() => {})),
      memory: given.remembered === undefined ? NO_MEMORY : remembering(given.remembered),
      log: given.log ?? SILENT,
      idleMs: given.idleMs,
      starts: given.starts,
      limits: {
        ...getDefaultSettings(),
        'limits.requestsPerServer': 10,
        'limits.queuePerServer': 10,
        backlogBytes: 1_000,
        ...given.limits,
      },
      onChange: given.onChange ?? ((): void => undefined),
      chance: () => 0,
    },
  );
  if (given.remembered === undefined) server.lists.inventory = { ...EMPTY_INVENTORY, ...inventoryOf(lists) };
  return server;
}

function remembering(lists: Lists): Memory {
  const snapshot = { era: 'legacy', version: '2025-11-25', capabilities: { tools: {} } } as const;
  const inventory = { ...EMPTY_INVENTORY, ...inventoryOf(lists) };
  return {
    ...NO_MEMORY,
    recall: () => ({ ...snapshot, instructions: undefined, asksClient: false, inventory }),
  };
}

export function inventoryOf(lists: Lists): Partial<Record<ListKind, readonly Definition[]>> {
  return Object.fromEntries(
    Object.entries(lists).map(([kind, values]) => [
      kind,
      values.map((value) => (isDefinition(value) ? value : definition(kind as ListKind, value))),
    ]),
  );
}

/** Connects at once, to a server with empty lists. */
export function standing(capabilities: Link['capabilities'], instructions?: string): Connect {
  return () =>
    Promise.resolve(
      ok<Link>({
        era: 'legacy',
        version: '2025-11-25',
        capabilities,
        instructions,
        unreadBytes: 0,
        correlatesServerRequests: false,
        send: () => Promise.resolve(ok({ era: 'legacy', message: NOTHING_LISTED })),
        notify() {},
        close: () => Promise.resolve(),
      }),
    );
}

const NOTHING_LISTED = responseOf('{"tools":[],"prompts":[],"resources":[],"resourceTemplates":[]}');

function responseOf(result: string): ResponseMessage {
  const message = readServerMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`));
  if (message.kind !== 'response') throw new Error(`no response: ${result}`);
  return message;
}

function isDefinition(value: Json | Definition): value is Definition {
  return typeof value === 'object' && value !== null && 'fitness' in value;
}
