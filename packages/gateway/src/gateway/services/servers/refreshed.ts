import { setTimeout as sleep } from 'node:timers/promises';
import type { RefreshResult } from '../../../api/server.ts';
import { mapTexts, type Cause } from '../../../core/cause.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ServerSpec } from '../../../core/server-spec.ts';
import type { DriftDetector } from '../../catalog/drift-detector.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { getDigest } from '../../catalog/definition-facts.ts';
import type { Server } from '../../catalog/server.ts';
import { getStateCause } from '../../catalog/wait-refusal.ts';

type ToolChanges = Pick<RefreshResult, 'toolsAdded' | 'toolsUpdated' | 'toolsRemoved'>;

/** Digests of a server's tool definitions, by the server's tool names. */
function digestsOf({ inventory }: Server): ReadonlyMap<string, string> {
  return new Map(
    inventory.tools.flatMap((tool) => (tool.key === undefined ? [] : [[tool.key, getDigest(tool)] as const])),
  );
}

function changesOf(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): ToolChanges {
  const kept = [...after.keys()].filter((name) => before.has(name));
  return {
    toolsAdded: [...after.keys()].filter((name) => !before.has(name)),
    toolsUpdated: kept.filter((name) => before.get(name) !== after.get(name)),
    toolsRemoved: [...before.keys()].filter((name) => !after.has(name)),
  };
}

/** Maximum wait in ms until a server that was just registered, or is down, becomes ready. */
const STAND_WAIT_MS = 10_000;

/** Resolves with the promise, or after the maximum wait. */
export async function waitUntilSettled(settled: Promise<unknown>): Promise<void> {
  await Promise.race([settled, sleep(STAND_WAIT_MS, undefined, { ref: false })]);
}

/** Reads the lists of a server again and compares them. Error: SERVER_UNAVAILABLE. */
export async function refreshLists(
  gatewayId: string,
  server: Server,
  { mask, drift, nowMs }: RefreshDeps,
): Promise<Result<RefreshResult, Refusal>> {
  const startMs = performance.now();
  const before = digestsOf(server);
  const isRead = await readLists(server, mask);
  if (!isRead.ok) return isRead;
  await drift.settled(server.spec);
  return ok({
    gatewayId,
    success: true,
    ...changesOf(before, digestsOf(server)),
    durationMs: Math.round(performance.now() - startMs),
    refreshedAt: new Date(nowMs()).toISOString(),
  });
}

interface RefreshDeps {
  readonly mask: (text: string) => string;
  readonly drift: Pick<DriftDetector, 'settled'>;
  readonly nowMs: () => number;
}

/** Why an entry has no server. */
export function toNotTriedRefusal(server: string, { catalog, registered, mask }: Unserved): Refusal {
  const isDisabled = registered.disabled.some(({ name }) => name === server);
  const { cause = isDisabled ? DISABLED : UNUSABLE } =
    catalog.rejected.find(({ name }) => name === server) ?? {};
  return { code: 'SERVER_UNAVAILABLE', server, cause: mapTexts(cause, mask) };
}

interface Unserved {
  readonly catalog: Catalog;
  readonly registered: { readonly disabled: readonly ServerSpec[] };
  readonly mask: (text: string) => string;
}

const DISABLED: Cause = { code: 'ENTRY_DISABLED' };
const UNUSABLE: Cause = { code: 'ENTRY_UNREADABLE', reason: undefined };

/** Reads the lists again. Reconnects first if the server is down. Error: SERVER_UNAVAILABLE. */
async function readLists(
  server: Server,
  mask: (text: string) => string,
): Promise<Result<undefined, Refusal>> {
  if (server.link === undefined) await waitUntilSettled(server.tryNow());
  else await server.lists.readAgain();
  if (server.link !== undefined && server.lists.isComplete) return ok(undefined);
  const { state, lists, spec } = server;
  const cause = mapTexts(lists.fault ?? getStateCause(state), mask);
  return err({ code: 'SERVER_UNAVAILABLE', server: spec.name, cause });
}
