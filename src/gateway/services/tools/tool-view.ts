import {
  type Claim,
  gatewayIdOf,
  type Hint,
  HINTS,
  declaredHints,
  type DeclaredHints,
} from '../../../core/hints/hint.ts';
import { lint, type LintFinding, type LintLevels } from '../../../core/hints/lint.ts';
import { riskText } from '../../../core/hints/drift-text.ts';
import type { DriftSeverity } from '../../../core/hints/drift.ts';
import { reasonOf, type ReasonCode } from '../../../core/hints/reason.ts';
import type { ResolvedHint, ResolvedHints } from '../../../core/hints/resolve.ts';
import type { GuaranteeView } from '../../../core/sandbox.ts';
import type { Declared } from '../../../core/hints/declared.ts';
import type { PolicyTool } from '../../../core/policy/policy.ts';
import type { ToolRecord } from '../../../core/hints/tool-record.ts';
import type { JsonChange } from '../../../core/json-changes.ts';
import {
  definitionJson,
  declaredOf,
  digestOf,
  isWithheld,
  withheldOf,
  type Withheld,
} from '../../catalog/definition-facts.ts';
import { restToolOf } from '../../catalog/definition-source.ts';
import type { Entry } from '../../catalog/listing.ts';
import { restFactsOf, type RestFacts } from './rest-facts.ts';
import { verificationView, type VerificationView } from './verification-view.ts';
import { nameIn, refIdIn } from '../toolsets/tool-index.ts';
import type { ToolClaims, Trust } from '../../catalog/tool-claims.ts';
import type { ToolDrift } from '../../catalog/tool-drift.ts';

/** One hint with all claims about it. */
export interface HintView {
  /** The value considered true. */
  readonly effective: boolean;
  readonly decidedBy: Claim['kind'] | 'implied' | 'default';
  /** A phrase: who claims it, or what it follows from. */
  readonly reason: string;
  readonly reasonCode: ReasonCode;
  /** The value for decisions, in which untrusted sources cannot lower caution. */
  readonly decision: boolean;
  /** The value shown in lists. Absent: none. */
  readonly emitted?: boolean | undefined;
  readonly isContradicted: boolean;
  readonly claims: readonly ClaimView[];
}

export interface ClaimView extends Omit<Claim, 'hint' | 'atMs'> {
  /** Absent: since the beginning. */
  readonly at?: string | undefined;
}

export type ToolState = 'enabled' | 'disabled' | 'withheld';

/** A tool as in the REST API. */
export interface ToolView extends Partial<RestFacts> {
  readonly id: string;
  /** The public name. */
  readonly name: string;
  readonly namespacedName: string;
  /** The server's own name for it. */
  readonly originalName: string;
  readonly serverName: string;
  readonly gatewayId: string;
  readonly refId: string;
  readonly digest: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** The server's own texts that an operator replaced, and whether they have changed since. */
  readonly original?: OriginalView | undefined;
  /** How often its calls must be confirmed, if an operator set that. Suspended: set for another definition. */
  readonly confirm?: PolicyTool['confirm'];
  /** How long in ms its results are cached, if an operator set that. */
  readonly cacheMs?: PolicyTool['cacheMs'];
  /** Its own tags, in addition to those of its server. */
  readonly tags?: readonly string[] | undefined;
  readonly enabled: boolean;
  /** Whether clients get it. Withheld: no client can read its definition. */
  readonly state: ToolState;
  /** Eras whose clients do not get it, and why. */
  readonly withheld?: Withheld | undefined;
  /** The kind of source that defines it. */
  readonly source: 'mcp' | 'rest' | 'openapi' | 'function';
  /** The annotations that clients get. */
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly hints: Readonly<Record<Hint, HintView>>;
  readonly trust: Trust;
  /** What is enforced for its calls, whatever its code does. Set only if a single tool is requested. */
  readonly guarantee?: GuaranteeView | undefined;
  readonly lint: readonly LintFinding[];
  readonly drift?: DriftView | undefined;
  /** Absent: it was never verified. */
  readonly verification?: VerificationView | undefined;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
}

export interface OriginalView {
  readonly name: string;
  readonly description?: string | undefined;
  /** Whether the server's description may have changed since the operator's was written. */
  readonly needsReview: boolean;
}

export interface DriftView {
  readonly since: string;
  readonly severity: DriftSeverity;
  readonly isDangerous: boolean;
  /** Risks that suspend overrides that lower caution. */
  readonly dangers: readonly string[];
  /** Risks that only ask for a review. */
  readonly flags: readonly string[];
  /** Whether its titles and descriptions change at each start. */
  readonly isVolatile: boolean;
  readonly changes: readonly JsonChange[];
  /** Hints whose override is suspended until the change is reviewed. */
  readonly suspends: readonly Hint[];
}

export interface ToolViewOptions {
  readonly id: string;
  readonly entry: Entry;
  readonly claims: ToolClaims;
  readonly levels: LintLevels;
  /** Masks secrets in a text. */
  readonly mask: (text: string) => string;
}

export function viewOf({ id, entry, claims, levels, mask }: ToolViewOptions): ToolView {
  const { server, definition, key, name } = entry;
  const { spec } = server;
  const record = claims.toolRecordOf(spec, definition);
  const resolved = claims.resolvedOf(spec, definition);
  const members = definitionJson(definition);
  const declared = declaredOf(definition);
  const title = record?.title ?? declared.title;
  const description = record?.description?.text ?? declared.description;
  const digest = digestOf(definition);
  const drift = claims.driftOf(spec, definition);
  const rest = restToolOf(spec, definition);
  const { confirm, cacheMs } = claims.policyToolOf(spec, name, definition);
  return {
    id,
    name: key,
    namespacedName: nameIn(entry),
    originalName: name,
    serverName: spec.name,
    gatewayId: gatewayIdOf(spec.name),
    refId: refIdIn(entry),
    digest,
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...originalOf(record, {
      name,
      declared,
      prose: () => claims.currentDefinitionOf(spec, definition).aspects().prose,
    }),
    ...(confirm !== undefined && { confirm }),
    ...(cacheMs !== undefined && { cacheMs }),
    ...(record?.tags && { tags: record.tags.value }),
    enabled: record?.isDisabled !== true,
    ...servingOf(entry),
    source: definition.facts?.kind ?? 'mcp',
    ...(rest && restFactsOf(rest, mask)),
    annotations: annotationsOf(entry, resolved, record?.title),
    hints: hintViews(resolved),
    trust: claims.trustOf(spec),
    lint: lintOf({ name, declared, resolved }, levels),
    ...(drift !== undefined && { drift: driftView(drift) }),
    ...(record?.verification && { verification: verificationView(record.verification, digest) }),
    ...('inputSchema' in members && { inputSchema: members['inputSchema'] }),
    ...('outputSchema' in members && { outputSchema: members['outputSchema'] }),
  };
}

function originalOf(
  record: ToolRecord | undefined,
  { name, declared, prose }: { name: string; declared: Declared; prose: () => string },
): Pick<ToolView, 'original'> {
  if (record?.publicName === undefined && record?.description === undefined) return {};
  const { description } = declared;
  const needsReview = record.description !== undefined && record.description.seen !== prose();
  return { original: { name, ...(description !== undefined && { description }), needsReview } };
}

/** Whether clients get a tool, and if not, why. */
export function servingOf({ definition, settings: override }: Entry): Pick<ToolView, 'state' | 'withheld'> {
  const withheld = withheldOf(definition);
  const state = isWithheld(definition) ? 'withheld' : 'enabled';
  return { state: override?.isDisabled === true ? 'disabled' : state, ...(withheld && { withheld }) };
}

/**
 * What clients get: the server's annotations, without those that clients would reject, with the operator's overrides.
 */
function annotationsOf(
  { definition }: Entry,
  resolved: ResolvedHints,
  title: unknown,
): Readonly<Record<string, unknown>> {
  const { annotations = {} } = declaredOf(definition);
  const { modern } = definition.fitness;
  const left = modern.kind === 'without' ? modern.paths.filter(([first]) => first === 'annotations') : [];
  const entries = Object.entries(annotations).filter(([key]) => !left.some(([, member]) => member === key));
  const hints = Object.entries(emittedHints(resolved));
  const titled = title === undefined ? [] : [['title', title] as const];
  return Object.fromEntries([...entries, ...hints, ...titled]);
}

/** The title override and the annotations that clients get, if any. */
export function shownMembers(entry: Entry): Readonly<Record<string, unknown>> {
  const { definition, server, settings: override } = entry;
  const title = override?.members.find(({ path }) => path[0] === 'title')?.value;
  const description = override?.members.find(({ path }) => path[0] === 'description')?.value;
  const annotations = annotationsOf(entry, server.claims.resolvedOf(server.spec, definition), title);
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
}

export function hintViews(resolved: ResolvedHints): ToolView['hints'] {
  const views = HINTS.map((hint) => [hint, hintView(resolved[hint])]);
  return Object.fromEntries(views) as ToolView['hints']; // every hint was visited
}

export function emittedHints(resolved: ResolvedHints): DeclaredHints {
  return declaredHints(Object.fromEntries(HINTS.map((hint) => [hint, resolved[hint].emitted])));
}

export interface LintedTool {
  readonly name: string;
  readonly declared: ReturnType<typeof declaredOf>;
  readonly resolved: ResolvedHints;
}

const FINDINGS = new WeakMap<ResolvedHints, CachedFindings>();

interface CachedFindings {
  readonly levels: LintLevels;
  readonly findings: readonly LintFinding[];
}

/** Cached per tool, as thousands may be requested together. */
export function lintOf({ name, declared, resolved }: LintedTool, levels: LintLevels): readonly LintFinding[] {
  const known = FINDINGS.get(resolved);
  if (known?.levels === levels) return known.findings;
  const findings = lint({ name, declared, emitted: emittedHints(resolved) }, levels);
  FINDINGS.set(resolved, { levels, findings });
  return findings;
}

function hintView({ effective, decision, emitted, contradiction, claims }: ResolvedHint): HintView {
  const { code, text } = reasonOf(effective.by);
  return {
    effective: effective.value,
    decidedBy: effective.by.kind === 'claim' ? effective.by.claim.kind : effective.by.kind,
    reason: text,
    reasonCode: code,
    decision: decision.value,
    ...(emitted !== undefined && { emitted }),
    isContradicted: contradiction !== undefined,
    claims: claims.map(claimView),
  };
}

function claimView({ hint: _, atMs, ...claim }: Claim): ClaimView {
  return { ...claim, ...(atMs > 0 && { at: new Date(atMs).toISOString() }) };
}

export function driftView(drift: ToolDrift): DriftView {
  const { sinceMs, severity, dangers, flags, isVolatile, changes, suspends } = drift;
  return {
    since: new Date(sinceMs).toISOString(),
    severity,
    isDangerous: severity === 'dangerous',
    dangers: dangers.map(riskText),
    flags: flags.map(riskText),
    isVolatile,
    changes,
    suspends,
  };
}
