import { capitalize } from '@assay-mcp/kit/capitalize';
import type { Finding } from './finding.ts';
import type { ToolRecord } from './hints/tool-record.ts';
import { computeOriginIdentity } from './server-identity.ts';
import type { ServerSpec } from './server-spec.ts';
import { ANY_HOST } from '@assay-mcp/sandbox/network-rules';
import { getSourceKind } from './sources/source-kinds.ts';
import { getGapRemedy, formatGap, type SandboxGap, type SandboxSupport } from '@assay-mcp/sandbox/support';

interface CheckedServer {
  readonly name: string;
  /** Whether its twin runs under Node's permission model where sandboxes are unavailable. */
  readonly isOnNode: boolean;
}

/** Checks whether the machine can enforce the sandboxes of these servers. */
export function checkSandbox(servers: readonly CheckedServer[], support: SandboxSupport): readonly Finding[] {
  if (!support.canEnforce) return servers.map((server) => withoutSandbox(server, support.gap));
  const names = servers.map(({ name }) => name);
  return [
    ...names.map((about): Finding => ({
      ...{ check: 'sandbox', level: 'ok', about },
      message: 'Its sandbox can be enforced on this machine.',
    })),
    ...support.lacks.map((lack): Finding => ({
      ...{ check: 'sandbox', level: 'warning', about: names.join(', ') },
      message: capitalize(`${formatGap(lack)}.`),
      remedy: getGapRemedy(lack),
    })),
  ];
}

function withoutSandbox({ name: about, isOnNode }: CheckedServer, gap: SandboxGap): Finding {
  const remedy = getGapRemedy(gap);
  if (isOnNode)
    return {
      ...{ check: 'sandbox', level: 'warning', about, remedy },
      message: `Its read-only tools run under Node's permission model, which is weaker than a sandbox: ${formatGap(gap)}.`,
    };
  return {
    ...{ check: 'sandbox', level: 'problem', about, code: 'SANDBOX_UNAVAILABLE', remedy },
    message: `Its sandbox cannot be enforced, so what would run in it is refused: ${formatGap(gap)}.`,
  };
}

/** Says whether Assay can confine its own servers here. Without a sandbox, they run all the same. */
export function checkConfined(names: readonly string[], support: SandboxSupport): readonly Finding[] {
  return names.map((about): Finding =>
    support.canEnforce
      ? { check: 'sandbox', level: 'ok', about, message: 'It runs in a sandbox.' }
      : {
          ...{ check: 'sandbox', level: 'note', about },
          message: `It runs without a sandbox: ${formatGap(support.gap)}.`,
          remedy: getGapRemedy(support.gap),
        },
  );
}

/** Reports confined servers that can call every tool, because they share the network in which Assay needs no token. */
export function checkSharedNetwork(
  servers: readonly ServerSpec[],
  access: 'open' | 'token',
): readonly Finding[] {
  return servers.flatMap(({ name, transport }): readonly Finding[] => {
    const { sandbox, network = [] } = getSourceKind(transport).command(transport) ?? {};
    if (sandbox !== 'strict' || !network.includes(ANY_HOST) || access === 'token') return [];
    return [
      {
        ...{ check: 'sandbox', level: 'warning', about: name },
        message: `It shares the network of this machine ("network": ["${ANY_HOST}"]), so it can call every tool at Assay's endpoint, which needs no token.`,
        remedy: 'Set ASSAY_MCP_ACCESS=token, or list the hosts that it needs.',
      },
    ];
  });
}

/** Reports servers whose read-only tools are refused because their tools keep state in memory. */
export function checkState(
  servers: readonly ServerSpec[],
  records: readonly ToolRecord[],
): readonly Finding[] {
  return servers.flatMap((spec): readonly Finding[] => {
    const { sandbox, sandboxAccepts = [] } = getSourceKind(spec.transport).command(spec.transport) ?? {};
    if (sandbox === undefined || sandboxAccepts.includes('separate_state')) return [];
    const identity = computeOriginIdentity(spec);
    const stateful = records.filter(
      ({ server, identity: theirs, verification, drift }) =>
        server === spec.name &&
        theirs === identity &&
        verification?.keepsState === true &&
        (drift === undefined || drift.digest === verification.digest),
    );
    if (stateful.length === 0) return [];
    const names = stateful.map(({ name }) => name).slice(0, MAX_NAMES);
    const shown = stateful.length > MAX_NAMES ? [...names, '…'] : names;
    return [
      {
        check: 'sandbox',
        level: 'problem',
        about: spec.name,
        code: 'SANDBOX_UNAVAILABLE',
        message: `Calls of its read-only tools are refused: ${formatGap('state')} (${shown.join(', ')}).`,
        remedy: getGapRemedy('state'),
      },
    ];
  });
}

const MAX_NAMES = 5;
