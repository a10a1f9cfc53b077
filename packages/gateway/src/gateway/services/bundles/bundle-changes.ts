import { type BundleRecord, type EntryBundleRecord, isEntry } from '../../../core/bundle/bundle.ts';
import type { Planned } from '../../../core/bundle/bundle-plan.ts';
import type { AuditEvent, AuditTarget } from '../../../core/audit-event.ts';
import { computeGatewayId, computeServerId, computeToolId } from '../../../core/record-ids.ts';
import { POLICY_RULES } from '../../../core/record.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import { CUSTOM_SERVER_IDENTITY } from '../../../core/server-identity.ts';
import { CUSTOM_SERVER } from '../../../core/server-spec.ts';
import { formatNamespacedName } from '../../../core/tool-ref.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';
import type { EntrySeal } from '../../ports/config-entries.ts';
import type { RecordChange } from '../../ports/records.ts';
import { toEquipChange, toToolsetKey, type ToolsetEdit } from '../toolsets/toolset-edits.ts';
import { toEquipEvent, toSaveEvent, type ChangeAuthor } from '../toolsets/toolset-audit.ts';
import { RULES_TARGET } from '../policy-rules.ts';
import { ENTRY_IDS, toEntrySealName } from './entry-records.ts';

export interface ChangesOptions {
  readonly records: RecordReplica;
  readonly seal: EntrySeal;
  readonly author: ChangeAuthor;
  /** An entry without its secrets. */
  readonly withoutSecrets: (record: EntryBundleRecord) => EntryBundleRecord;
}

/** The writes that carry out the plan. Error: KEY_UNUSABLE. */
export async function buildBundleChanges(
  planned: readonly Planned[],
  options: ChangesOptions,
): Promise<Result<ToolsetEdit, Refusal>> {
  const changing = planned.filter(({ action }) => action === 'create' || action === 'update');
  const changes: RecordChange[] = [];
  for (const { record } of changing) {
    const change = await buildChange(record, options);
    if (!change.ok) return change;
    if (change.value !== undefined) changes.push(change.value);
  }
  const equipped = changing.flatMap(({ record }) =>
    record.kind === 'equipped' ? [record.body.toolset] : [],
  );
  return ok({
    changes,
    expected: equipped.map(toToolsetKey),
    audit: changing.flatMap((one) => toAuditEvent(one, options) ?? []),
  });
}

/** Undefined if it is already stored. */
async function buildChange(
  record: BundleRecord,
  { records, seal }: ChangesOptions,
): Promise<Result<RecordChange | undefined, Refusal>> {
  if (isEntry(record)) {
    const { kind, body } = record;
    const { name, entry, createdMs, author } = body;
    const sealed = await seal.seal(toEntrySealName(kind, name), entry);
    if (!sealed.ok) return sealed;
    return ok({ kind, id: ENTRY_IDS[kind](name), body: { name, ...sealed.value, createdMs, author } });
  }
  switch (record.kind) {
    case 'trust':
      return ok({ ...record, id: computeServerId(record.body.server, record.body.identity) });
    case 'tool': {
      const { server, identity, name } = record.body;
      const id = computeToolId(server, identity, name);
      // Local observations of the tool are kept: they are not part of a bundle.
      const { drift, volatility, verification } = records.get('tool', id) ?? {};
      const seen = {
        ...(drift !== undefined && { drift }),
        ...(volatility !== undefined && { volatility }),
        ...(verification !== undefined && { verification }),
      };
      return ok({ kind: 'tool', id, body: { id, ...record.body, ...seen } });
    }
    case 'toolset':
      return ok({ ...record, id: record.body.name });
    case 'equipped':
      return ok(toEquipChange(records, record.body.toolset));
    case 'setting':
      return ok(record);
    case 'policy_rules':
      return ok({ ...POLICY_RULES, body: record.body });
  }
}

function toAuditEvent({ record, former }: Planned, options: ChangesOptions): AuditEvent | undefined {
  const { author, withoutSecrets } = options;
  const event = (action: string, target: AuditTarget, pick = getBody): AuditEvent => ({
    atMs: author.atMs,
    subject: author.by,
    action,
    target,
    before: former && pick(former),
    after: pick(record),
  });
  const getOpenBody = (one: BundleRecord): unknown => (isEntry(one) ? withoutSecrets(one).body : one.body);
  const verb = former === undefined ? 'create' : 'update';
  switch (record.kind) {
    case 'gateway':
      return event(`gateway.${verb}`, toGatewayTarget(record.body.name), getOpenBody);
    case 'rest_tool':
      return event(
        `tool.${verb}`,
        toToolTarget([CUSTOM_SERVER, CUSTOM_SERVER_IDENTITY, record.body.name]),
        getOpenBody,
      );
    case 'function_module':
      return event('function.add', toGatewayTarget(CUSTOM_SERVER), getOpenBody);
    case 'trust':
      return event('gateway.trust', toGatewayTarget(record.body.server), (one) =>
        one.kind === 'trust' ? { trust: one.body.trust } : undefined,
      );
    case 'tool': {
      const { server, identity, name } = record.body;
      return event('tool.update', toToolTarget([server, identity, name]));
    }
    case 'toolset':
      return toSaveEvent(author, former?.kind === 'toolset' ? former.body : undefined, record.body);
    case 'equipped':
      return toEquipEvent(
        author,
        former?.kind === 'equipped' ? former.body.toolset : undefined,
        record.body.toolset,
      );
    case 'setting':
      return event('preference.update', { kind: 'preference', id: record.id, name: record.id });
    case 'policy_rules':
      return event('policy.rules', RULES_TARGET, (one) =>
        one.kind === 'policy_rules' ? one.body.rules : undefined,
      );
  }
}

function getBody({ body }: BundleRecord): unknown {
  return body;
}

function toGatewayTarget(name: string): AuditTarget {
  return { kind: 'gateway', id: computeGatewayId(name), name };
}

function toToolTarget([server, identity, name]: readonly [string, string, string]): AuditTarget {
  return {
    kind: 'tool',
    id: computeToolId(server, identity, name),
    name: formatNamespacedName(server, name),
  };
}
