import type { GatewayTrust } from '../../../api/server.ts';
import { HINTS, isCautious } from '@assay-mcp/kit/hint';
import { shorten } from '@assay-mcp/kit/shorten';
import { NO_LABELS, type Policy, type PolicyCaller, type PolicyTool } from '../../../core/policy/policy.ts';
import { rank } from '../../../core/policy/untrusted-claims.ts';
import { computeGatewayId } from '../../../core/record-ids.ts';
import type { ServerSpec } from '../../../core/server-spec.ts';
import { getSourceKind } from '../../../core/sources/source-kinds.ts';
import { LOCAL_OPERATOR } from '../../../core/subject.ts';
import { getDigest } from '../../catalog/definition-facts.ts';
import { getServerIds, type ToolClaims } from '../../catalog/tool-claims.ts';
import type { Definition } from '../../ports/link.ts';

interface TrustDeps {
  readonly claims: ToolClaims;
  readonly policy: Policy;
  readonly mask: (text: string) => string;
}

/** Whose decisions are compared: a caller that no rule about tokens or toolsets names. */
const CALLER: PolicyCaller = {
  identity: LOCAL_OPERATOR,
  toolset: undefined,
  labels: NO_LABELS,
  hasArguments: true,
};

/** What trust in the hints of a server changes, whether or not it is trusted now. */
export function toTrustView(
  spec: ServerSpec,
  definitions: readonly Definition[],
  { claims, policy, mask }: TrustDeps,
): GatewayTrust {
  const [notAsked, askedLess, contradicted]: string[][] = [[], [], []];
  let verified = 0;
  const studied: { origin?: string; tools: number; contradicted: string[] } = { tools: 0, contradicted: [] };
  for (const definition of definitions) {
    const { key } = definition;
    if (key === undefined) continue;
    const record = claims.toolRecordOf(spec, definition);
    const seen = record?.verification;
    if (seen?.digest === getDigest(definition)) {
      verified += 1;
      if (HINTS.some((hint) => seen.hints[hint]?.kind === 'contradicted')) contradicted?.push(key);
    }
    const study = claims.studyOf(spec, definition);
    if (study[0] !== undefined) {
      studied.origin = study[0].origin;
      studied.tools += 1;
      if (study.some(({ hint, value }) => isCautious(hint, value))) studied.contradicted.push(key);
    }
    if (record?.isDisabled === true) continue;
    const tool = claims.policyToolOf(spec, key, definition);
    const rankWith = (isTrusted: boolean): number => {
      const hints = claims.resolvedWith(spec, definition, isTrusted);
      return rankOf({ ...tool, hints, hintsIfTrusted: undefined }, policy);
    };
    const [without, trusted] = [rankWith(false), rankWith(true)];
    if (trusted >= without) continue;
    if (trusted === 0) notAsked?.push(key);
    else askedLess?.push(key);
  }
  return {
    gatewayId: computeGatewayId(spec.name),
    name: spec.name,
    trust: claims.trustOf(spec),
    target: shorten(toTarget(spec, mask), MAX_TARGET_LENGTH),
    identity: getServerIds(spec).identity,
    approvals: policy.approvals,
    toolCount: definitions.length,
    notAsked: toNamedTools(notAsked),
    askedLess: toNamedTools(askedLess),
    verified,
    ...(studied.origin !== undefined && {
      studied: {
        origin: studied.origin,
        tools: studied.tools,
        contradicted: toNamedTools(studied.contradicted),
      },
    }),
    contradicted: toNamedTools(contradicted),
  };
}

function rankOf(tool: PolicyTool, policy: Policy): number {
  const decision = policy.decide({ ...CALLER, tool });
  return decision === undefined ? 0 : rank(decision);
}

const MAX_TARGET_LENGTH = 1_000;
const MAX_NAMES = 50;
const MAX_NAME_LENGTH = 100;

function toNamedTools(names: readonly string[] = []): GatewayTrust['notAsked'] {
  return {
    total: names.length,
    names: names.slice(0, MAX_NAMES).map((name) => shorten(name, MAX_NAME_LENGTH)),
  };
}

/** What a person calls the target that trust holds for. */
function toTarget({ transport, name }: ServerSpec, mask: (text: string) => string): string {
  const { command, args = [], url, openapi, cwd } = getSourceKind(transport).shown(transport, mask);
  if (command !== undefined) return [command, ...args].join(' ') + (cwd === undefined ? '' : ` (in ${cwd})`);
  const address = url ?? openapi;
  if (address === undefined) return name;
  return URL.canParse(address) ? new URL(address).origin : address;
}
