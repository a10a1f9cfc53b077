import type { Cause } from '../../core/cause.ts';
import { CUSTOM_SERVER, type ServerSpec } from '../../core/server-spec.ts';
import { mergeCustomServers } from '../../core/sources/custom-server.ts';
import { getSourceKind } from '../../core/sources/source-kinds.ts';

/** A server of the config that cannot be started, and why. */
export interface Rejected {
  readonly name: string;
  readonly cause: Cause;
}

/** The servers a config asks for. */
export interface Plan {
  /** In config order. */
  readonly servers: readonly ServerSpec[];
  readonly rejected: readonly Rejected[];
}

/** The origin of a plan: the config file, or servers registered at run time. */
export type PlanPart = 'config' | 'registered';

/** Names of the servers affected by a new plan. */
export interface PlanChange {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** The config file takes precedence: its names cannot be registered. */
export function mergePlans(plans: ReadonlyMap<PlanPart, Plan>): Plan {
  const config = plans.get('config') ?? NO_PLAN;
  const registered = plans.get('registered') ?? NO_PLAN;
  const local = mergeCustomServers(config.servers.find(isLocal), registered.servers.find(isLocal));
  const servers = config.servers.filter((spec) => !isLocal(spec));
  const others = registered.servers.filter((spec) => !isLocal(spec));
  const taken = new Set([...servers, ...config.rejected].map(({ name }) => name));
  const shadowed = [
    ...others.filter(({ name }) => taken.has(name)).map(({ name }) => name),
    ...local.shadowed.map((name) => `${CUSTOM_SERVER}.${name}`),
  ];
  return {
    servers: [
      ...servers,
      ...others.filter(({ name }) => !taken.has(name)),
      ...(local.spec === undefined ? [] : [local.spec]),
    ],
    rejected: [
      ...config.rejected,
      ...registered.rejected,
      ...shadowed.map((name): Rejected => ({ name, cause: { code: 'ENTRY_SHADOWED' } })),
    ],
  };
}

function isLocal({ transport }: ServerSpec): boolean {
  return getSourceKind(transport).isCustom;
}

export const NO_PLAN: Plan = { servers: [], rejected: [] };
