import { toEntryJson, toBundledOverrideJson } from '../../../core/bundle/bundle-json.ts';
import type { BundledEntry, EntryKind } from '../../../core/bundle/bundle.ts';
import type { BundleItem } from '../../../core/bundle/bundle-items.ts';
import type { Planned } from '../../../core/bundle/bundle-plan.ts';
import { splitEntrySecrets } from '../../../core/bundle/entry-secrets.ts';
import type { AuditEvent, AuditTarget } from '../../../core/audit-event.ts';
import { computeGatewayId, computeServerId, computeToolId } from '../../../core/record-ids.ts';
import { POLICY_RULES } from '../../../core/record.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { ok, type Result } from '../../../core/result.ts';
import { CUSTOM_SERVER_IDENTITY } from '../../../core/server-identity.ts';
import { CUSTOM_SERVER } from '../../../core/server-spec.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';
import type { EntrySeal } from '../../ports/config-entries.ts';
import type { RecordChange } from '../../ports/records.ts';
import { toEquipChange, toToolsetKey, type ToolsetEdit } from '../toolsets/toolset-edits.ts';
import { toEquipEvent, toSaveEvent, type ChangeAuthor } from '../toolsets/toolset-audit.ts';
import { RULES_TARGET } from '../policy-rules.ts';
import type { BundleState } from './bundle-state.ts';
import { ENTRY_RECORDS } from './entry-records.ts';

export interface ChangesOptions {
  readonly records: RecordReplica;
  readonly state: BundleState;
  readonly seal: EntrySeal;
  readonly author: ChangeAuthor;
  /** The secret members of an entry. */
  readonly secretIn: (kind: EntryKind, entry: BundledEntry) => ReadonlySet<string>;
}

/** The writes that carry out the plan. Error: KEY_UNUSABLE. */
export async function buildBundleChanges(
  planned: readonly Planned[],
  options: ChangesOptions,
): Promise<Result<ToolsetEdit, Refusal>> {
  const changing = planned.filter(({ action }) => action === 'create' || action === 'update');
  const changes: RecordChange[] = [];
  for (const { item } of changing) {
    const change = await changeOf(item, options);
    if (!change.ok) return change;
    if (change.value !== undefined) changes.push(change.value);
  }
  const equipped = changing.flatMap(({ item }) => (item.kind === 'equipped' ? item.value : []));
  return ok({
    changes,
    expected: equipped.map(toToolsetKey),
    audit: changing.flatMap((one) => eventOf(one, options) ?? []),
  });
}

/** Undefined if it is already stored. */
async function changeOf(
  item: BundleItem,
  { records, seal }: ChangesOptions,
): Promise<Result<RecordChange | undefined, Refusal>> {
  switch (item.kind) {
    case 'gateway':
    case 'tool':
    case 'function': {
      const { name, entry, createdMs, author } = item.value;
      const { kind, idOf, sealNameOf } = ENTRY_RECORDS[item.kind];
      const sealed = await seal.seal(sealNameOf(name), entry);
      if (!sealed.ok) return sealed;
      return ok({ kind, id: idOf(name), body: { name, ...sealed.value, createdMs, author } });
    }
    case 'trust': {
      const { server, identity } = item.value;
      return ok({ kind: 'trust', id: computeServerId(server, identity), body: item.value });
    }
    case 'override': {
      const id = computeToolId(item.value.server, item.value.identity, item.value.name);
      // Local observations of the tool are kept: they are not part of a bundle.
      const { drift, volatility, verification } = records.get('tool', id) ?? {};
      const seen = {
        ...(drift !== undefined && { drift }),
        ...(volatility !== undefined && { volatility }),
        ...(verification !== undefined && { verification }),
      };
      return ok({ kind: 'tool', id, body: { id, ...item.value, ...seen } });
    }
    case 'toolset':
      return ok({ ...toToolsetKey(item.value.name), body: item.value });
    case 'equipped':
      return ok(toEquipChange(records, item.value));
    case 'preference': {
      const { key, value } = item.value;
      return ok({ kind: 'setting', id: key, body: value });
    }
    case 'policy_rules':
      return ok({ ...POLICY_RULES, body: { rules: item.value } });
  }
}

function eventOf({ item, former }: Planned, options: ChangesOptions): AuditEvent | undefined {
  const { author, state } = options;
  const event = (action: string, target: AuditTarget, shown: (one: BundleItem) => unknown): AuditEvent => ({
    atMs: author.atMs,
    subject: author.by,
    action,
    target,
    before: former && shown(former),
    after: shown(item),
  });
  const verb = former === undefined ? 'create' : 'update';
  const shownEntry = (one: BundleItem): unknown => shownItem(one, options);
  switch (item.kind) {
    case 'gateway':
      return event(`gateway.${verb}`, gatewayTarget(item.name), shownEntry);
    case 'tool':
      return event(
        `tool.${verb}`,
        toolTarget([CUSTOM_SERVER, CUSTOM_SERVER_IDENTITY, item.name]),
        shownEntry,
      );
    case 'function':
      return event('function.add', gatewayTarget(CUSTOM_SERVER), shownEntry);
    case 'trust':
      return event('gateway.trust', gatewayTarget(item.name), ({ members }) => members);
    case 'override': {
      const { server, identity, name } = item.value;
      return event('tool.update', toolTarget([server, identity, name]), shownEntry);
    }
    case 'toolset':
      return toSaveEvent(author, former?.kind === 'toolset' ? former.value : undefined, item.value);
    case 'equipped':
      return toEquipEvent(author, state.bundle.equipped, item.value);
    case 'preference': {
      const { name } = item;
      return event(
        'preference.update',
        { kind: 'preference', id: name, name },
        ({ members }) => members['value'],
      );
    }
    case 'policy_rules':
      return event('policy.rules', RULES_TARGET, ({ members }) => members['rules']);
  }
}

/** The item as shown to people, without secrets. */
function shownItem(item: BundleItem, { secretIn }: ChangesOptions): unknown {
  switch (item.kind) {
    case 'gateway':
    case 'tool':
    case 'function':
      return toEntryJson(splitEntrySecrets(item.kind, item.value, secretIn(item.kind, item.value)).open);
    case 'override':
      return toBundledOverrideJson(item.value);
    default:
      return item.members;
  }
}

function gatewayTarget(name: string): AuditTarget {
  return { kind: 'gateway', id: computeGatewayId(name), name };
}

function toolTarget([server, identity, name]: readonly [string, string, string]): AuditTarget {
  return { kind: 'tool', id: computeToolId(server, identity, name), name: `${server}.${name}` };
}
