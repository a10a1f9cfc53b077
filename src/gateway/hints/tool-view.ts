import type { Claim } from '../../core/hints/claim.ts';
import { HINTS, saidHints, type Hint, type SaidHints } from '../../core/hints/hint.ts';
import { lint, type LintFinding, type LintLevels } from '../../core/hints/lint.ts';
import type { Basis, Decided, ResolvedHint, ResolvedHints } from '../../core/hints/resolve.ts';
import { gatewayIdOf } from '../../core/hints/tool-id.ts';
import { isInForce, type Drift, type Override, type ToolWord } from '../../core/hints/tool-word.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { RestToolSpec } from '../../core/sources/rest-tool.ts';
import { definitionJson, declaredOf, digestOf } from '../definition-facts.ts';
import type { Entry } from '../listing.ts';
import { restFactsOf, type RestFacts } from '../local/rest-facts.ts';
import { nameIn, refIdIn } from '../toolsets/tool-index.ts';
import type { ToolClaims, Trust } from './tool-claims.ts';

/** One hint with all that anybody says of it. */
export interface HintView {
  /** What is believed. */
  readonly effective: boolean;
  readonly decidedBy: Claim['kind'] | 'implied' | 'default';
  /** A phrase: whose word it is, or what it follows from. */
  readonly reason: string;
  /** The same for decisions, where who is not trusted lowers no caution. */
  readonly decision: boolean;
  /** What lists show; absent: nothing. */
  readonly emitted?: boolean | undefined;
  readonly isContradicted: boolean;
  readonly claims: readonly ClaimView[];
}

export interface ClaimView extends Omit<Claim, 'hint' | 'atMs'> {
  /** Absent: from the beginning. */
  readonly at?: string | undefined;
}

/** A tool as the REST API shows it. */
export interface ToolView extends Partial<RestFacts> {
  readonly id: string;
  /** As clients call it. */
  readonly name: string;
  readonly namespacedName: string;
  /** As its server calls it. */
  readonly originalName: string;
  readonly serverName: string;
  readonly gatewayId: string;
  readonly refId: string;
  readonly digest: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly enabled: boolean;
  /** What it is made of. */
  readonly source: 'mcp' | 'rest' | 'openapi' | 'function';
  /** What clients get. */
  readonly annotations: Readonly<Record<string, unknown>>;
  readonly hints: Readonly<Record<Hint, HintView>>;
  readonly trust: Trust;
  readonly lint: readonly LintFinding[];
  readonly drift?: DriftView | undefined;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
}

export interface DriftView {
  readonly since: string;
  readonly isDangerous: boolean;
  readonly dangers: readonly string[];
  readonly changes: Drift['changes'];
  /** Hints whose override does not count until the change is reviewed. */
  readonly suspends: readonly Hint[];
}

export interface Viewing {
  readonly id: string;
  readonly entry: Entry;
  readonly claims: ToolClaims;
  readonly levels: LintLevels;
  /** Takes out of a text what is secret. */
  readonly mask: (text: string) => string;
}

export function viewOf({ id, entry, claims, levels, mask }: Viewing): ToolView {
  const { server, definition, key, name } = entry;
  const { spec } = server;
  const word = claims.wordOn(spec, definition);
  const resolved = claims.resolvedOf(spec, definition);
  const members = definitionJson(definition);
  const declared = declaredOf(definition);
  const title = word?.title ?? declared.title;
  const digest = digestOf(definition);
  const { transport } = spec;
  const rest = transport.kind === 'local' ? transport.tools.find((tool) => tool.name === name) : undefined;
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
    ...(declared.description !== undefined && { description: declared.description }),
    enabled: word?.isDisabled !== true,
    source: sourceOf(spec, rest),
    ...(rest && restFactsOf(rest, mask)),
    annotations: annotationsOf(entry, resolved, word?.title),
    hints: hintViews(resolved),
    trust: claims.trustOf(spec),
    lint: lintOf({ name, declared, resolved }, levels),
    ...(word?.drift?.digest === digest && { drift: driftView(word, word.drift) }),
    ...('inputSchema' in members && { inputSchema: members['inputSchema'] }),
    ...('outputSchema' in members && { outputSchema: members['outputSchema'] }),
  };
}

function sourceOf({ transport }: ServerSpec, rest: RestToolSpec | undefined): ToolView['source'] {
  if (transport.kind === 'openapi') return 'openapi';
  if (transport.kind !== 'local') return 'mcp';
  return rest === undefined ? 'function' : 'rest';
}

/** What clients get: what its server says, without what they would reject, with what the operator says in its place. */
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

/** The title and the annotations that clients get, where they get any. */
export function shownMembers(entry: Entry): Readonly<Record<string, unknown>> {
  const { definition, server, said } = entry;
  const title = said?.members.find(({ path }) => path[0] === 'title')?.value;
  const annotations = annotationsOf(entry, server.claims.resolvedOf(server.spec, definition), title);
  return {
    ...(title !== undefined && { title }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
}

export function hintViews(resolved: ResolvedHints): ToolView['hints'] {
  const views = HINTS.map((hint) => [hint, hintView(resolved[hint])]);
  return Object.fromEntries(views) as ToolView['hints']; // every hint was visited
}

export function emittedHints(resolved: ResolvedHints): SaidHints {
  return saidHints(Object.fromEntries(HINTS.map((hint) => [hint, resolved[hint].emitted])));
}

export interface LintedTool {
  readonly name: string;
  readonly declared: ReturnType<typeof declaredOf>;
  readonly resolved: ResolvedHints;
}

const FINDINGS = new WeakMap<ResolvedHints, Found>();

interface Found {
  readonly levels: LintLevels;
  readonly findings: readonly LintFinding[];
}

/** Made once for a tool as it is: thousands are asked for at a time. */
export function lintOf({ name, declared, resolved }: LintedTool, levels: LintLevels): readonly LintFinding[] {
  const known = FINDINGS.get(resolved);
  if (known?.levels === levels) return known.findings;
  const findings = lint({ name, declared, emitted: emittedHints(resolved) }, levels);
  FINDINGS.set(resolved, { levels, findings });
  return findings;
}

function hintView({ effective, decision, emitted, contradiction, claims }: ResolvedHint): HintView {
  return {
    effective: effective.value,
    decidedBy: kindOf(effective.by),
    reason: reasonOf(effective),
    decision: decision.value,
    ...(emitted !== undefined && { emitted }),
    isContradicted: contradiction !== undefined,
    claims: claims.map(claimView),
  };
}

function claimView({ hint: _, atMs, ...claim }: Claim): ClaimView {
  return { ...claim, ...(atMs > 0 && { at: new Date(atMs).toISOString() }) };
}

function kindOf(by: Basis): HintView['decidedBy'] {
  return by.kind === 'claim' ? by.claim.kind : by.kind;
}

function reasonOf({ by }: Decided): string {
  if (by.kind === 'default') return 'nobody says anything, and so the specification does';
  if (by.kind === 'implied')
    return 'it follows from readOnlyHint: what only reads destroys nothing and can be repeated';
  const { kind, origin, reason } = by.claim;
  const because = reason === undefined ? '' : `: ${reason}`;
  if (kind === 'declared') return `the server ${JSON.stringify(origin)} declares it${because}`;
  if (kind === 'override') return `${JSON.stringify(origin)} set it${because}`;
  return kind === 'inferred' ? `inferred${because}` : `observed${because}`;
}

function driftView({ overrides }: ToolWord, drift: Drift): DriftView {
  const { digest, sinceMs, changes, dangers } = drift;
  const given = Object.entries(overrides) as readonly (readonly [Hint, Override])[]; // the keys of the type
  return {
    since: new Date(sinceMs).toISOString(),
    isDangerous: dangers.length > 0,
    dangers,
    changes,
    suspends: given.filter(([hint, one]) => !isInForce(hint, one, { digest, drift })).map(([hint]) => hint),
  };
}
