import type { Hint } from '@assay-mcp/kit/hint';
import { type ReasonCode, toReason } from '../hints/reason.ts';
import type { ResolvedHint } from '../hints/resolve.ts';
import type { HintWarning, PolicyReason, PolicyTool, UntrustedClaim } from './policy.ts';
import { formatStop } from '../stops.ts';
import { findUntrustedClaim } from './untrusted-claims.ts';

/** `operator`: a person who can change what Assay asks about. `client`: a model, which only learns of it. */
export type ReasonReader = 'operator' | 'client';

interface Explained {
  readonly reasons: readonly PolicyReason[];
  readonly warnings?: readonly HintWarning[] | undefined;
}

/** Everything that led to a decision, and what a person should know before confirming, as sentences. None twice. */
export function formatReasons(
  { reasons, warnings = [] }: Explained,
  reader: ReasonReader = 'operator',
): readonly string[] {
  const all = [
    ...reasons.flatMap((reason) => formatPolicyReason(reason, reader)),
    ...warnings.flatMap((warning) => formatWarning(warning, reader)),
  ];
  return [...new Set(all)];
}

/** Why a decision was made, as sentences. Operators' texts are quoted. */
export function formatPolicyReason(
  reason: PolicyReason,
  reader: ReasonReader = 'operator',
): readonly string[] {
  const { untrusted } = reason;
  const said = untrusted === undefined ? [] : formatUntrustedClaim(untrusted, reader);
  switch (reason.code) {
    case 'rule':
      return [
        `The operator's rule ${JSON.stringify(reason.rule)} ${RULES[reason.effect]}${
          reason.because === undefined ? '' : `: ${JSON.stringify(reason.because)}`
        }.`,
        ...said,
      ];
    case 'destructive':
      return said.length > 0
        ? said
        : [
            formatStatement('destructiveHint', reason.origin),
            'Calls of tools that may make destructive changes are always confirmed.',
          ];
    case 'read_only':
      return [
        formatStatement('readOnlyHint', reason.origin),
        'Calls of tools that only read are approved automatically.',
      ];
    case 'unannotated':
      return said.length > 0 ? said : ['No trusted source states any of its hints.'];
    case 'session_labels':
      return [
        'This call could carry data out of a session that has read untrusted content and private data.',
        ...said,
      ];
    case 'tool_confirm':
      return [TOOL_CONFIRM[reason.confirm], ...said];
    case 'confirm_suspended':
      return [
        'An operator chose when calls of this tool are confirmed, but its definition has changed since and waits for a review.',
      ];
    case 'default_confirm':
      return [...said, DEFAULT_CONFIRM[reason.confirm]];
    case 'own_tool':
      return ['It is a tool of Assay itself.'];
    case 'preferences_unknown':
      return [
        'Rules or preferences in the store could not be read: they are damaged, or of a newer version.',
      ];
    case 'store_away':
      return ['The preferences could not be read from the store.'];
    case 'stopped':
      return [formatStop(reason.stop)];
    default:
      return []; // a stored reason of another version
  }
}

const RULES = { allow: 'allows it', ask: 'requires approval', refuse: 'refuses it' } as const;

const TOOL_CONFIRM = {
  always: 'An operator chose to confirm each call of this tool.',
  first: 'An operator chose to confirm the first call of this tool in each session.',
  never: 'An operator chose not to confirm calls of this tool.',
} as const;

const DEFAULT_CONFIRM = {
  always: 'Each call is confirmed, as the settings say.',
  first: 'The first call of each tool in a session is confirmed, as the settings say.',
  never: 'Calls are not confirmed, as the settings say.',
} as const;

/** What a hint is based on, without naming its author: clients read this. Undefined: nothing that counts. */
const SPEAKERS: Readonly<Record<ReasonCode, string | undefined>> = {
  default: undefined,
  implied_by_read_only: 'Its readOnlyHint says',
  implied_by_destructive: 'Its destructiveHint says',
  override: 'An operator says',
  observed: 'A verification saw',
  inferred: 'Its HTTP method says',
  declared: 'Its definition says',
  declared_by_server: 'Its server says',
  declared_by_operator: 'An operator says',
  declared_by_config_file: 'The config file says',
  declared_by_document: 'Its OpenAPI document says',
  declared_by_module: 'Its function module says',
};

/** What a tool does according to a hint. */
const DOES: Readonly<Record<Hint, readonly [no: string, yes: string]>> = {
  readOnlyHint: ['may make changes', 'only reads'],
  destructiveHint: ['makes no destructive changes', 'may make destructive changes'],
  idempotentHint: ['must not be repeated', 'can be repeated'],
  openWorldHint: ['reaches nothing outside', 'may reach outside'],
};

function describe(hint: Hint, value: boolean): string {
  return DOES[hint][value ? 1 : 0];
}

function formatStatement(hint: Hint, origin: ReasonCode): string {
  const speaker = SPEAKERS[origin];
  return speaker === undefined
    ? `This tool ${describe(hint, true)}: no trusted source says otherwise.`
    : `${speaker} that this tool ${describe(hint, true)}.`;
}

/** A name may have spaces and full stops, and must not read as a sentence. */
function nameServer(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}

function formatUntrustedClaim(
  { server, hint, value }: UntrustedClaim,
  reader: ReasonReader,
): readonly string[] {
  return reader === 'operator'
    ? [
        `${nameServer(server)} says that this tool ${describe(hint, value)}.`,
        `You have not trusted ${nameServer(server)}'s hints yet.`,
      ]
    : [
        `Its server says that this tool ${describe(hint, value)}.`,
        "The operator has not trusted this server's hints.",
      ];
}

/**
 * The hints that a person should know before confirming a call: whether it destroys, only reads, or reaches outside.
 */
export function listHintWarnings(tool: PolicyTool): readonly HintWarning[] {
  const { readOnlyHint, destructiveHint, openWorldHint } = tool.hints;
  const about = readOnlyHint.decision.value
    ? [toWarning(readOnlyHint)]
    : destructiveHint.decision.value
      ? [toWarning(destructiveHint, findUntrustedClaim(tool, ['readOnlyHint', 'destructiveHint']))]
      : [];
  if (!openWorldHint.decision.value) return about;
  const claim = findUntrustedClaim(tool, ['openWorldHint']);
  // The server says this, too, and one sentence that it is not trusted is enough.
  return claim !== undefined && about.some(({ untrusted }) => untrusted !== undefined)
    ? about
    : [...about, toWarning(openWorldHint, claim)];
}

function toWarning(
  { hint, decision, contradiction }: ResolvedHint,
  claim?: Omit<UntrustedClaim, 'isDecisive'>,
): HintWarning {
  const { value, by } = decision;
  const origin = toReason(by).code;
  const isAssumed = origin === 'default' && claim !== undefined;
  return {
    ...{ hint, value, origin },
    ...(contradiction && { contradictedMs: contradiction.atMs }),
    ...(isAssumed && { untrusted: { ...claim, isDecisive: false } }),
  };
}

/** A warning as sentences: "Its server says that this tool may make destructive changes." */
export function formatWarning(
  { hint, origin, contradictedMs, untrusted }: HintWarning,
  reader: ReasonReader = 'operator',
): readonly string[] {
  const said =
    untrusted === undefined ? [formatStatement(hint, origin)] : formatUntrustedClaim(untrusted, reader);
  if (contradictedMs === undefined) return said;
  const day = new Date(contradictedMs).toISOString().slice(0, DAY_LENGTH);
  return [...said, `What was observed on ${day} contradicts what it declares.`];
}

/** Length of a date such as `2026-11-23`. */
const DAY_LENGTH = 10;

type ShownHint = Pick<HintWarning, 'hint' | 'value' | 'origin'>;

/** Hints with what they are based on, each basis once: "readOnlyHint false, openWorldHint true (declared)". */
export function formatHints(hints: readonly ShownHint[]): string {
  return [...Map.groupBy(hints, ({ origin }) => origin)]
    .map(([origin, same]) => {
      const values = same.map(({ hint, value }) => `${hint} ${value}`).join(', ');
      return `${values} (${ORIGINS[origin]})`;
    })
    .join('; ');
}

const ORIGINS: Readonly<Record<ReasonCode, string>> = {
  default: 'assumed, because no trusted source declares otherwise',
  implied_by_read_only: 'it follows from readOnlyHint',
  implied_by_destructive: 'it follows from destructiveHint',
  override: 'an operator set it',
  observed: 'it was observed',
  inferred: 'inferred',
  declared: 'declared',
  declared_by_server: 'its server declares it',
  declared_by_operator: 'an operator declares it',
  declared_by_config_file: 'the config file declares it',
  declared_by_document: 'its OpenAPI document declares it',
  declared_by_module: 'its function module declares it',
};
