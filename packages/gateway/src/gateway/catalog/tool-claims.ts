import { computeAspects } from '../../core/hints/aspects.ts';
import { formatRisk } from '../../core/hints/drift-text.ts';
import { type ProsePolicy, listRaisedHints, isLowered } from '../../core/hints/drift.ts';
import { type Hint, HINTS } from '@assay-mcp/kit/hint';
import type { Claim } from '../../core/hints/claim.ts';
import { inferFromMethod } from '@assay-mcp/kit/infer-hints';
import { resolveHints, type ResolvedHints } from '../../core/hints/resolve.ts';
import {
  affectsLists,
  areTagsInForce,
  type CurrentDefinition,
  isCacheInForce,
  isConfirmInForce,
  type ToolRecord,
  isInForce,
} from '../../core/hints/tool-record.ts';
import { toObservedClaims } from '../../core/hints/tool-verification.ts';
import { Listeners } from '../../core/listeners.ts';
import type { PolicyTool } from '../../core/policy/policy.ts';
import { computeAcknowledgedLabels, computeResultLabels } from '../../core/policy/session-labels.ts';
import { computeServerId, computeToolId } from '../../core/record-ids.ts';
import { computeTwinRights } from '../../core/guarantee.ts';
import { computeOriginIdentity } from '../../core/server-identity.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import { getSourceKind } from '../../core/sources/source-kinds.ts';
import type { MemberChange } from '@assay-mcp/protocol/definition';
import type { Definition } from '../ports/link.ts';
import { getDeclared, getDigest } from './definition-facts.ts';
import { getAspects, getDefinitionSource, findRestTool, getDeclarer } from './definition-source.ts';
import type { RecordReplica } from './record-replica.ts';
import { findSuspendedHints, toToolDrift, type ToolDrift } from './tool-drift.ts';
import type { StudyClaims } from './study-claims.ts';
import { withholdUnstored, type UnstoredDefinitions } from './unstored-definitions.ts';

/** What operators say about a tool, as lists and calls need it. */
export interface OperatorSettings {
  readonly isDisabled: boolean;
  /** In place of the server's name. */
  readonly name?: string | undefined;
  /** Members that replace those of the server's definition in lists. */
  readonly members: readonly MemberChange[];
}

/** Whether the server's declarations may lower caution, and who decided that. */
export interface Trust {
  readonly value: boolean;
  readonly origin: 'config_file' | 'operator' | 'default';
}

/** Combines all claims about the tools of servers. */
export class ToolClaims {
  readonly #records: RecordReplica | undefined;
  readonly #prose: ProsePolicy;
  readonly #unstored: UnstoredDefinitions | undefined;
  readonly #study: StudyClaims | undefined;
  /** Tool records, by server and then by the server's own tool name. */
  readonly #byServer = new Map<string, Map<string, ToolRecord>>();
  readonly #places = new Map<string, ToolRecord>();
  readonly #settings = new WeakMap<Definition, Known>();
  readonly #resolved = new WeakMap<Definition, Resolved>();
  readonly #policyTools = new WeakMap<Definition, KnownPolicyTool>();
  readonly #stateful = new WeakMap<readonly Definition[], KnownStateful>();
  readonly #listeners = new Listeners();
  /** Number of changes of operators' claims. */
  #revision = 0;

  /** `records`: undefined if there are no claims by operators. */
  constructor(
    records: RecordReplica | undefined,
    prose: ProsePolicy = 'flag',
    unstored?: UnstoredDefinitions,
    study?: StudyClaims,
  ) {
    this.#records = records;
    this.#prose = prose;
    this.#unstored = unstored;
    this.#study = study;
    study?.onChange(() => {
      this.#revision += 1;
      this.#listeners.notify();
    });
    unstored?.onChange(() => this.#listeners.notify());
    for (const record of records?.all('tool') ?? []) this.#take(record.id, record);
    records?.onChange(({ records: changed }) => {
      for (const record of changed) if (record.kind === 'tool') this.#take(record.id, record.body);
      if (!changed.some(({ kind }) => kind === 'tool' || kind === 'trust')) return;
      this.#revision += 1;
      this.#listeners.notify();
    });
  }

  /** Calls back after any claim has changed. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Computes what lists need of a tool, so that the next list need not do it for all tools in one step. */
  prepare(spec: ServerSpec, definition: Definition): void {
    this.settingsOf(spec, definition);
    if (this.#unstored !== undefined) getDigest(definition);
  }

  /** Undefined: show the definition unchanged. Called for each listed tool. */
  settingsOf(spec: ServerSpec, definition: Definition): OperatorSettings | undefined {
    const record = this.toolRecordOf(spec, definition);
    // Spares thousands of tools with a changed definition the rest.
    const study = this.studyOf(spec, definition);
    const isPlainRecord = record === undefined || !affectsLists(record);
    if (!getSourceKind(spec.transport).isBuiltIn && isPlainRecord && study.length === 0) return undefined;
    const known = this.#settings.get(definition);
    if (known !== undefined && known.record === record && known.study === study) return known.settings;
    const members = this.#membersOf(spec, definition, record);
    const isDisabled = record?.isDisabled === true;
    const name = record?.publicName;
    const isPlain = !isDisabled && members.length === 0 && name === undefined;
    const fresh = isPlain ? undefined : { isDisabled, members, ...(name !== undefined && { name }) };
    // Author, time and reason of a change do not affect lists.
    const settings = JSON.stringify(fresh) === JSON.stringify(known?.settings) ? known?.settings : fresh;
    this.#settings.set(definition, { record, study, settings });
    return settings;
  }

  /** The definition as clients may get it: withheld if the bounds of its server keep it from being stored. */
  withheldIfUnstored(spec: ServerSpec, definition: Definition): Definition {
    return this.#unstored?.isUnstored(getServerIds(spec).serverId, definition) === true
      ? withholdUnstored(definition)
      : definition;
  }

  toolRecordOf(spec: ServerSpec, { key }: Definition): ToolRecord | undefined {
    const ofServer = this.#byServer.get(getServerIds(spec).key);
    return ofServer === undefined || key === undefined ? undefined : ofServer.get(key);
  }

  trustOf(spec: ServerSpec): Trust {
    if (spec.trust !== undefined) return { value: spec.trust, origin: 'config_file' };
    const settings = this.#records?.trust(getServerIds(spec).serverId);
    return settings === undefined
      ? { value: getSourceKind(spec.transport).isOwn(spec.transport), origin: 'default' }
      : { value: settings.trust, origin: 'operator' };
  }

  resolvedOf(spec: ServerSpec, definition: Definition): ResolvedHints {
    const record = this.toolRecordOf(spec, definition);
    const { value: isTrusted } = this.trustOf(spec);
    const study = this.studyOf(spec, definition);
    const known = this.#resolved.get(definition);
    if (known?.record === record && known?.isTrusted === isTrusted && known.study === study)
      return known.hints;
    const hints = this.resolvedWith(spec, definition, isTrusted);
    this.#resolved.set(definition, { record, isTrusted, study, hints });
    return hints;
  }

  /** The hints of a tool as they are, or would be, with or without trust in its server. */
  resolvedWith(spec: ServerSpec, definition: Definition, isTrusted: boolean): ResolvedHints {
    const record = this.toolRecordOf(spec, definition);
    const claims = [
      ...toDeclaredClaims(spec, definition, { record, isTrusted }),
      ...inferClaims(spec, definition, { record, isTrusted }),
      ...toOverrideClaims(record, this.currentDefinitionOf(spec, definition)),
      ...toObservedClaims(record?.verification),
      ...this.studyOf(spec, definition),
    ];
    const drift = record?.drift?.digest === getDigest(definition) ? record.drift : undefined;
    return resolveHints(claims, getDigest(definition), {
      isMade: getSourceKind(spec.transport).isBuiltIn,
      ...(drift !== undefined && { takenBack: listRaisedHints(drift) }),
    });
  }

  /** What the study that ships with Assay observed of this definition. */
  studyOf(spec: ServerSpec, definition: Definition): readonly Claim[] {
    return this.#study?.claimsOf(spec, definition) ?? NOTHING_STUDIED;
  }

  /** Resolves when `studyOf` is final for a server. */
  async studied(spec: ServerSpec): Promise<void> {
    await this.#study?.settled(spec);
  }

  /** Names of the tools that keep state in memory, as seen by a verification. Called for each call of a twin. */
  statefulOf(spec: ServerSpec, tools: readonly Definition[]): readonly string[] {
    const known = this.#stateful.get(tools);
    if (known?.spec === spec && known.revision === this.#revision) return known.names;
    const names = tools.flatMap((definition) => {
      const { keepsState, digest } = this.toolRecordOf(spec, definition)?.verification ?? {};
      const isStateful = keepsState === true && digest === getDigest(definition);
      return isStateful && definition.key !== undefined ? [definition.key] : [];
    });
    this.#stateful.set(tools, { spec, revision: this.#revision, names });
    return names;
  }

  /** The same, but empty if the operator accepts that a twin does not share that state. */
  unsharedStateOf(spec: ServerSpec, tools: readonly Definition[]): readonly string[] {
    const accepted = getSourceKind(spec.transport).command(spec.transport)?.sandboxAccepts ?? [];
    return accepted.includes('separate_state') ? [] : this.statefulOf(spec, tools);
  }

  /** The input of decisions about a tool. Needed for each call, so the object is cached until something changes. */
  policyToolOf(spec: ServerSpec, name: string, definition: Definition): PolicyTool {
    const known = this.#policyTools.get(definition);
    if (known?.spec === spec && known.revision === this.#revision) return known.tool;
    const hints = this.resolvedOf(spec, definition);
    const set = this.toolRecordOf(spec, definition);
    const now = this.currentDefinitionOf(spec, definition);
    const confirm = set?.confirm && (isConfirmInForce(set.confirm, now) ? set.confirm.value : 'suspended');
    const cacheMs = set?.cacheMs && (isCacheInForce(set.cacheMs, now) ? set.cacheMs.value : 'suspended');
    const own = set?.tags;
    const { transport, tags: ofServer = [] } = spec;
    const tags = [...ofServer, ...(own?.value ?? [])];
    const allowingTags = own === undefined || areTagsInForce(own, now) ? tags : ofServer;
    const holdsPrivateData = getSourceKind(transport).holdsPrivateData(transport);
    const isConfined = isWithoutNetwork(spec, hints);
    const result = { hints, tags, holdsPrivateData, isConfined };
    const labels = computeResultLabels(result);
    const acknowledgementLabels = computeAcknowledgedLabels(result);
    const about = { server: spec.name, name, digest: getDigest(definition), hints };
    const { value: isTrusted, origin } = this.trustOf(spec);
    const tool: PolicyTool = {
      ...{ ...about, confirm, cacheMs, tags, allowingTags },
      ...{ labels, acknowledgementLabels, isConfined },
      // An operator who said no is not offered the trust again.
      ...(!isTrusted &&
        origin !== 'operator' && { hintsIfTrusted: () => this.resolvedWith(spec, definition, true) }),
    };
    this.#policyTools.set(definition, { spec, revision: this.#revision, tool });
    return tool;
  }

  /** What determines whether a tool's overrides apply. */
  currentDefinitionOf(spec: ServerSpec, definition: Definition): CurrentDefinition {
    return {
      digest: getDigest(definition),
      aspects: () => getAspects(spec, definition),
      prose: this.#prose,
      isOwn: findRestTool(spec, definition) !== undefined,
    };
  }

  /** The same for a definition stored as text, of a tool with this name. */
  currentTextOf(spec: ServerSpec, { name, digest, text }: NamedText): CurrentDefinition {
    return {
      digest,
      aspects: () => computeAspects(text, getDefinitionSource(spec)),
      prose: this.#prose,
      isOwn: findRestTool(spec, { key: name }) !== undefined,
    };
  }

  /** How a tool has drifted. Undefined if its definition is accepted or not compared yet. */
  driftOf(spec: ServerSpec, definition: Definition): ToolDrift | undefined {
    const isCompared = this.toolRecordOf(spec, definition)?.drift?.digest === getDigest(definition);
    return isCompared ? this.latestDriftOf(spec, definition) : undefined;
  }

  /** The same for the last definition compared, which may be older than this one. */
  latestDriftOf(spec: ServerSpec, definition: Definition): ToolDrift | undefined {
    const record = this.toolRecordOf(spec, definition);
    if (record?.drift === undefined) return undefined;
    return toToolDrift({ ...record, drift: record.drift }, this.currentDefinitionOf(spec, definition));
  }

  /** Hints whose override waits for a review, even if nothing differs from the accepted definition. */
  suspendedOf(spec: ServerSpec, definition: Definition): readonly Hint[] {
    const record = this.toolRecordOf(spec, definition);
    return record === undefined ? [] : findSuspendedHints(record, this.currentDefinitionOf(spec, definition));
  }

  #membersOf(
    spec: ServerSpec,
    definition: Definition,
    record: ToolRecord | undefined,
  ): readonly MemberChange[] {
    const { title, description } = record ?? {};
    const { hints } = getDeclared(definition);
    const resolved = this.resolvedOf(spec, definition);
    const changed = HINTS.flatMap((hint): MemberChange[] => {
      const { emitted } = resolved[hint];
      return emitted === undefined || emitted === hints[hint]
        ? []
        : [{ path: ['annotations', hint], value: emitted }];
    });
    if (title !== undefined)
      changed.push({ path: ['title'], value: title }, { path: ['annotations', 'title'], value: title });
    if (description !== undefined) changed.push({ path: ['description'], value: description.text });
    return changed;
  }

  #take(id: string, record: ToolRecord | undefined): void {
    const before = this.#places.get(id);
    if (before !== undefined) this.#byServer.get(keyOf(before.server, before.identity))?.delete(before.name);
    if (record === undefined) {
      this.#places.delete(id);
      return;
    }
    this.#places.set(id, record);
    const key = keyOf(record.server, record.identity);
    const ofServer = this.#byServer.get(key) ?? new Map<string, ToolRecord>();
    ofServer.set(record.name, record);
    this.#byServer.set(key, ofServer);
  }
}

/**
 * Whether calls of the tool run in a sandbox without a network, or are refused if there can be none. Node's permission
 * model, which an operator can accept instead, is not proof against code that is made to break out.
 */
function isWithoutNetwork({ transport }: ServerSpec, hints: ResolvedHints): boolean {
  const command = getSourceKind(transport).command(transport);
  if (command?.sandbox === undefined || command.sandboxAccepts?.includes('node_permission') === true)
    return false;
  return computeTwinRights(hints) === 'read';
}

const NOTHING_STUDIED: readonly Claim[] = [];

/** Only the servers' declarations, without operators. */
export const DECLARED_ALONE: ToolClaims = new ToolClaims(undefined);

interface NamedText {
  readonly name: string;
  readonly digest: string;
  readonly text: string;
}

interface Known {
  readonly record: ToolRecord | undefined;
  readonly study: readonly Claim[];
  readonly settings: OperatorSettings | undefined;
}

interface Resolved {
  readonly record: ToolRecord | undefined;
  readonly isTrusted: boolean;
  readonly study: readonly Claim[];
  readonly hints: ResolvedHints;
}

interface KnownStateful {
  readonly spec: ServerSpec;
  readonly revision: number;
  readonly names: readonly string[];
}

interface KnownPolicyTool {
  readonly spec: ServerSpec;
  readonly revision: number;
  readonly tool: PolicyTool;
}

interface Ids {
  readonly identity: string;
  readonly serverId: string;
  /** Of the server's tool records. */
  readonly key: string;
}

const IDS = new WeakMap<ServerSpec, Ids>();

export function getServerIds(spec: ServerSpec): Ids {
  const known = IDS.get(spec);
  if (known !== undefined) return known;
  const identity = computeOriginIdentity(spec);
  const ids = { identity, serverId: computeServerId(spec.name, identity), key: keyOf(spec.name, identity) };
  IDS.set(spec, ids);
  return ids;
}

const TOOL_IDS = new WeakMap<Definition, string>();

/** Undefined for a tool without a name: there can be no claims about it. */
export function findToolId(spec: ServerSpec, definition: Definition): string | undefined {
  const known = TOOL_IDS.get(definition);
  if (known !== undefined || definition.key === undefined) return known;
  const id = computeToolId(spec.name, getServerIds(spec).identity, definition.key);
  TOOL_IDS.set(definition, id);
  return id;
}

function keyOf(server: string, identity: string): string {
  return `${identity} ${server}`;
}

interface Trusting {
  readonly record: ToolRecord | undefined;
  readonly isTrusted: boolean;
}

function toDeclaredClaims(
  spec: ServerSpec,
  definition: Definition,
  { record, isTrusted }: Trusting,
): readonly Claim[] {
  const { hints } = getDeclared(definition);
  const digest = getDigest(definition);
  const declarer = getDeclarer(spec, definition);
  const atMs = record?.drift?.digest === digest ? record.drift.sinceMs : 0;
  return HINTS.flatMap((hint): readonly Claim[] => {
    const value = hints[hint];
    const mayLower = isTrusted && !isUnreviewed(hint, record, digest);
    const claim = { hint, kind: 'declared', ...declarer, atMs, digest, mayLower } as const;
    return value === undefined ? [] : [{ ...claim, value }];
  });
}

/** Whether the source now declares this hint safer than in the accepted definition. */
function isUnreviewed(hint: Hint, record: ToolRecord | undefined, digest: string): boolean {
  return record?.drift?.digest === digest && isLowered(record.drift, hint);
}

/** Hints inferred from the HTTP method of one of Assay's own tools. */
function inferClaims(
  spec: ServerSpec,
  definition: Definition,
  { record, isTrusted }: Trusting,
): readonly Claim[] {
  const method = definition.facts?.method;
  const inference = method === undefined ? undefined : inferFromMethod(method);
  if (inference === undefined) return [];
  const { hints, reason, isSafe } = inference;
  const digest = getDigest(definition);
  return HINTS.map((hint) => ({
    hint,
    value: hints[hint],
    kind: 'inferred',
    source: 'rule',
    origin: spec.name,
    reason,
    atMs: 0,
    digest,
    mayLower: (isTrusted || isSafe) && !isUnreviewed(hint, record, digest),
  }));
}

function toOverrideClaims(record: ToolRecord | undefined, now: CurrentDefinition): readonly Claim[] {
  if (record === undefined) return [];
  return HINTS.flatMap((hint): readonly Claim[] => {
    const override = record.overrides[hint];
    if (override === undefined) return [];
    const { value, author, atMs, reason } = override;
    return [
      {
        hint,
        value,
        kind: 'override',
        source: 'operator',
        origin: author,
        ...(reason !== undefined && { reason }),
        atMs,
        digest: override.digest,
        mayLower: true,
        ...(!isInForce(hint, override, now) && { suspended: suspension(record, now.digest) }),
      },
    ];
  });
}

function suspension({ drift }: ToolRecord, digest: string): string {
  return drift?.digest === digest
    ? `the definition changed since, and nobody has reviewed that: ${drift.risks.map(formatRisk).join('; ')}`
    : 'it was given for another definition: this one is being compared, or waits for a review';
}
