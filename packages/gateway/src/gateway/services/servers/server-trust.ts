import type { AuditEvent } from '../../../core/audit-event.ts';
import { computeGatewayId } from '../../../core/record-ids.ts';
import type { ServerSpec } from '../../../core/server-spec.ts';
import type { Lowering } from '../../catalog/record-edit.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';
import { getServerIds } from '../../catalog/tool-claims.ts';
import type { RecordChange, RecordKey } from '../../ports/records.ts';

export interface TrustInput {
  /** Null removes the decision; undefined keeps it. */
  readonly trust: boolean | null | undefined;
  readonly subject: string;
}

export interface TrustChange {
  readonly record: RecordChange<'trust'>;
  readonly event: AuditEvent;
  /** Set if the change withdraws the trust in the server as it runs now. */
  readonly lowers: Lowering | undefined;
}

/** The record that says whether a server is trusted. */
export function toTrustKey(spec: ServerSpec): RecordKey<'trust'> {
  return { kind: 'trust', id: getServerIds(spec).serverId };
}

/** The write that sets the trust in a server. Undefined if nothing changes. */
export function buildTrustChange(
  { records, nowMs }: { readonly records: RecordReplica; readonly nowMs: () => number },
  spec: ServerSpec,
  { trust, subject }: TrustInput,
): TrustChange | undefined {
  const { kind, id } = toTrustKey(spec);
  const before = records.get(kind, id)?.trust;
  if (trust === undefined || (before ?? null) === trust) return undefined;
  const { identity } = getServerIds(spec);
  const body = trust === null ? undefined : { server: spec.name, identity, trust };
  const record = { kind, id, body } as const;
  const isWithdrawn = trust === false || before === true;
  return {
    record,
    event: {
      atMs: nowMs(),
      subject,
      action: 'gateway.trust',
      target: { kind: 'gateway', id: computeGatewayId(spec.name), name: spec.name },
      before: { trust: before ?? null },
      after: { trust },
    },
    lowers: isWithdrawn ? { record, kind: 'gateway', name: spec.name } : undefined,
  };
}
