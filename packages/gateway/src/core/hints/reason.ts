import type { Claim, ClaimSource } from './claim.ts';
import type { Basis, ResolvedHint } from './resolve.ts';

/** Why a hint has its value, derived only from the claim that decided it. */
export interface Reason {
  readonly code: ReasonCode;
  /** A phrase for people. */
  readonly text: string;
}

export type ReasonCode =
  | 'default'
  | 'implied_by_read_only'
  | 'implied_by_destructive'
  | 'override'
  | 'observed'
  | 'inferred'
  | `declared_by_${Exclude<ClaimSource, 'rule' | 'verification' | 'study'>}`
  | 'declared';

export function toReason(basis: Basis): Reason {
  if (basis.kind === 'default') return { code: 'default', text: "not stated: the specification's default" };
  if (basis.kind === 'claim') return toClaimReason(basis.claim);
  const { text } = toClaimReason(basis.by);
  return basis.from === 'readOnlyHint'
    ? {
        code: 'implied_by_read_only',
        text: `readOnlyHint is true (${text}), so it destroys nothing and can be repeated`,
      }
    : {
        code: 'implied_by_destructive',
        text: `destructiveHint is true (${text}), so it does not only read`,
      };
}

/** Why decisions assume a value. If the source declares another one, the phrase says so. */
export function toDecisionReason({ decision, effective }: ResolvedHint): Reason {
  const reason = toReason(decision.by);
  if (decision.by.kind !== 'default' || effective.value === decision.value) return reason;
  const said = effective.value ? 'yes' : 'no';
  return { ...reason, text: `assumed; ${said} does not count yet: ${toReason(effective.by).text}` };
}

/** Who made the claim, as in "an operator set it". */
export function toClaimReason({ kind, source, origin, reason }: Claim): Reason {
  const because = reason === undefined ? '' : `: ${reason}`;
  if (kind === 'override') return { code: 'override', text: `${JSON.stringify(origin)} set it${because}` };
  if (kind === 'observed')
    return { code: 'observed', text: `observed by ${JSON.stringify(origin)}${because}` };
  if (kind === 'inferred') return { code: 'inferred', text: `inferred${because}` };
  return {
    code: isObserver(source) ? 'declared' : `declared_by_${source}`,
    text: `${DECLARED[source](JSON.stringify(origin))}${because}`,
  };
}

function isObserver(source: ClaimSource): source is 'rule' | 'verification' | 'study' {
  return source === 'rule' || source === 'verification' || source === 'study';
}

const DECLARED: Readonly<Record<ClaimSource, (origin: string) => string>> = {
  server: (origin) => `the server ${origin} declares it`,
  operator: (origin) => `${origin} set it when creating the tool`,
  config_file: () => 'the config file declares it',
  document: (origin) => `x-mcp in the OpenAPI document of ${origin} declares it`,
  module: (origin) => `the function module ${origin} declares it`,
  rule: (origin) => `${origin} declares it`,
  verification: (origin) => `${origin} declares it`,
  study: (origin) => `${origin} declares it`,
};
