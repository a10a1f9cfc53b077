import { withoutUndefined } from '@assay-mcp/kit/json-object';
import type { Drift, HintClaim, Tool, ToolHint } from '../../../api/tool.ts';
import { HINTS, pickDeclaredHints, type DeclaredHints } from '@assay-mcp/kit/hint';
import type { Claim } from '../../../core/hints/claim.ts';
import { computeGatewayId } from '../../../core/record-ids.ts';
import { suggestHints } from '../../../core/hints/suggest-hints.ts';
import { lint, type LintFinding, type LintLevels } from '../../../core/hints/lint.ts';
import { formatRisk } from '../../../core/hints/drift-text.ts';
import { toReason } from '../../../core/hints/reason.ts';
import type { ResolvedHint, ResolvedHints } from '../../../core/hints/resolve.ts';
import type { Declared } from '../../../core/hints/declared.ts';
import type { ToolRecord } from '../../../core/hints/tool-record.ts';
import {
  parseDefinition,
  getDeclared,
  getDigest,
  isWithheld,
  getWithheld,
} from '../../catalog/definition-facts.ts';
import { findRestTool } from '../../catalog/definition-source.ts';
import type { Entry } from '../../catalog/listing.ts';
import { toRestFacts } from './rest-facts.ts';
import { toVerificationView } from './verification-view.ts';
import { getEntryName, getRefId } from '../toolsets/tool-index.ts';
import type { ToolClaims } from '../../catalog/tool-claims.ts';
import type { ToolDrift } from '../../catalog/tool-drift.ts';

export interface ToolViewOptions {
  readonly id: string;
  readonly entry: Entry;
  readonly claims: ToolClaims;
  readonly levels: LintLevels;
  /** Masks secrets in a text. */
  readonly mask: (text: string) => string;
}

export function toToolView({ id, entry, claims, levels, mask }: ToolViewOptions): Tool {
  const { server, definition, key, name } = entry;
  const { spec } = server;
  const record = claims.toolRecordOf(spec, definition);
  const resolved = claims.resolvedOf(spec, definition);
  const members = parseDefinition(definition);
  const declared = getDeclared(definition);
  const title = record?.title ?? declared.title;
  const description = record?.description?.text ?? declared.description;
  const digest = getDigest(definition);
  const drift = claims.driftOf(spec, definition);
  const rest = findRestTool(spec, definition);
  // That of the entry, so that it can be sent back.
  const outputSchema = rest?.outputSchema ?? members['outputSchema'];
  const { confirm, cacheMs } = claims.policyToolOf(spec, name, definition);
  return {
    id,
    name: key,
    namespacedName: getEntryName(entry),
    originalName: name,
    serverName: spec.name,
    gatewayId: computeGatewayId(spec.name),
    refId: getRefId(entry),
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
    ...getServingState(entry),
    source: definition.facts?.kind ?? 'mcp',
    ...(rest && toRestFacts(rest, mask)),
    annotations: annotationsOf(entry, resolved, record?.title),
    hints: toHintViews(resolved),
    trust: claims.trustOf(spec),
    lint: getLintFindings({ name, declared, resolved }, levels),
    ...toSuggestion(entry, resolved, members),
    ...(drift !== undefined && { drift: toDriftView(drift) }),
    ...(record?.verification && { verification: toVerificationView(record.verification, digest) }),
    ...('inputSchema' in members && { inputSchema: members['inputSchema'] }),
    ...(outputSchema !== undefined && { outputSchema }),
  };
}

function originalOf(
  record: ToolRecord | undefined,
  { name, declared, prose }: { name: string; declared: Declared; prose: () => string },
): Pick<Tool, 'original'> {
  if (record?.publicName === undefined && record?.description === undefined) return {};
  const { description } = declared;
  const needsReview = record.description !== undefined && record.description.seen !== prose();
  return { original: { name, ...(description !== undefined && { description }), needsReview } };
}

/** Hints that an operator may accept, guessed from its name. */
export function toSuggestion(
  { server, name }: Entry,
  resolved: ResolvedHints,
  definition: unknown,
): Pick<Tool, 'suggested'> {
  const emitted = getEmittedHints(resolved);
  const basis = { name, serverName: server.spec.name, definition, emitted };
  const suggested = suggestHints(basis);
  return suggested === undefined ? {} : { suggested };
}

/** Whether clients get a tool, and if not, why. */
export function getServingState({ definition, settings: override }: Entry): Pick<Tool, 'state' | 'withheld'> {
  const withheld = getWithheld(definition);
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
  const { annotations = {} } = getDeclared(definition);
  const { modern } = definition.fitness;
  const left = modern.kind === 'without' ? modern.paths.filter(([first]) => first === 'annotations') : [];
  const entries = Object.entries(annotations).filter(([key]) => !left.some(([, member]) => member === key));
  const hints = Object.entries(getEmittedHints(resolved));
  const titled = title === undefined ? [] : [['title', title] as const];
  return Object.fromEntries([...entries, ...hints, ...titled]);
}

/** The title override and the annotations that clients get, if any. */
export function pickShownMembers(entry: Entry): Readonly<Record<string, unknown>> {
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

export function toHintViews(resolved: ResolvedHints): Tool['hints'] {
  const views = HINTS.map((hint) => [hint, hintView(resolved[hint])]);
  return Object.fromEntries(views) as Tool['hints']; // every hint was visited
}

export function getEmittedHints(resolved: ResolvedHints): DeclaredHints {
  return pickDeclaredHints(Object.fromEntries(HINTS.map((hint) => [hint, resolved[hint].emitted])));
}

export interface LintedTool {
  readonly name: string;
  readonly declared: ReturnType<typeof getDeclared>;
  readonly resolved: ResolvedHints;
}

const FINDINGS = new WeakMap<ResolvedHints, CachedFindings>();

interface CachedFindings {
  readonly levels: LintLevels;
  readonly findings: readonly LintFinding[];
}

/** Cached per tool, as thousands may be requested together. */
export function getLintFindings(
  { name, declared, resolved }: LintedTool,
  levels: LintLevels,
): readonly LintFinding[] {
  const known = FINDINGS.get(resolved);
  if (known?.levels === levels) return known.findings;
  const findings = lint({ name, declared, emitted: getEmittedHints(resolved) }, levels);
  FINDINGS.set(resolved, { levels, findings });
  return findings;
}

function hintView({ effective, decision, emitted, contradiction, claims }: ResolvedHint): ToolHint {
  const { code, text } = toReason(effective.by);
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

function claimView({ hint, atMs, ...claim }: Claim): HintClaim {
  return { ...withoutUndefined(claim), ...(atMs > 0 && { at: new Date(atMs).toISOString() }) };
}

export function toDriftView(drift: ToolDrift): Drift {
  const { sinceMs, severity, dangers, flags, isVolatile, changes, suspends } = drift;
  return {
    since: new Date(sinceMs).toISOString(),
    severity,
    isDangerous: severity === 'dangerous',
    dangers: dangers.map(formatRisk),
    flags: flags.map(formatRisk),
    isVolatile,
    changes: changes.map(withoutUndefined),
    suspends,
  };
}
