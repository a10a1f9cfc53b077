import { useQuery, useQueryClient } from '@tanstack/react-query';
import { CircleCheckBig } from 'lucide-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { Approval } from '../../../gateway/src/api/approval.ts';
import { AnsweredRow } from '../parts/answered-row.tsx';
import { ApprovalRequest } from '../parts/approval-request.tsx';
import { useKeys } from '../parts/keys.ts';
import { NotifyButton } from '../parts/notify-button.tsx';
import { Page } from '../parts/page.tsx';
import { ServerTrust } from '../parts/server-trust.tsx';
import { HostileText } from '../parts/hostile-text.tsx';
import { Empty, Failed, LoadingRows } from '../parts/states.tsx';
import { gatewaysQuery } from '../state/lists.ts';
import { answer, answeredQuery, forget, pendingQuery, revoke, type Answer } from '../state/approvals.ts';
import { useApprovalNotifications } from '../state/notifications.ts';

interface FailedAnswer {
  readonly id: string;
  readonly error: unknown;
}

export function ApprovalsPage(): ReactNode {
  const client = useQueryClient();
  const pending = useQuery(pendingQuery);
  const answered = useQuery(answeredQuery);
  const list = pending.data ?? [];
  const notifications = useApprovalNotifications(pending.data);
  const [selectedId, select] = useState<string>();
  const [denying, setDenying] = useState<string>();
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set());
  const [failed, setFailed] = useState<FailedAnswer>();
  // If the selected request was answered elsewhere, nothing is selected, so that a key never applies to another
  // request.
  const selected = list.find(({ id }) => id === selectedId);
  const index = selected === undefined ? -1 : list.indexOf(selected);
  const first = list[0]?.id;
  useEffect(() => {
    if (first !== undefined) select((now) => now ?? first);
  }, [first]);
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    // Not returned: some browsers return a promise, which React would call as a clean-up function.
    element.current?.scrollIntoView({ block: 'nearest' });
  }, [selectedId]);

  const give = async (request: Approval, given: Answer): Promise<void> => {
    if (busy.has(request.id)) return;
    setBusy((now) => new Set(now).add(request.id));
    setFailed(undefined);
    try {
      await answer(request, given);
      // Meanwhile the user may have selected another request, or begun to deny it.
      setDenying((now) => (now === request.id ? undefined : now));
      const next = list[list.indexOf(request) + 1];
      select((now) => (now === request.id ? next?.id : now));
      forget(client, request.id);
    } catch (error) {
      setFailed({ id: request.id, error });
      void client.invalidateQueries({ queryKey: ['approvals'] });
    } finally {
      setBusy((now) => new Set([...now].filter((id) => id !== request.id)));
    }
  };
  const takeBack = async (request: Approval): Promise<void> => {
    try {
      await revoke(request);
    } catch (error) {
      setFailed({ id: request.id, error });
    }
    void client.invalidateQueries({ queryKey: ['approvals'] });
  };

  useKeys({
    j: () => select(list[Math.min(index + 1, list.length - 1)]?.id),
    k: () => select(list[Math.max(index - 1, 0)]?.id),
    a: () => selected !== undefined && void give(selected, { kind: 'approve', scope: 'once' }),
    d: () => selected !== undefined && setDenying(selected.id),
  });

  const title = list.length === 0 ? 'Approvals' : `(${list.length}) Approvals`;
  return (
    <Page
      title="Approvals"
      count={list.length === 0 ? undefined : list.length}
      tools={<NotifyButton {...notifications} />}
    >
      <title>{`${title} · Assay`}</title>
      {pending.isPending && <LoadingRows count={3} />}
      {pending.isError && <Failed error={pending.error} onRetry={() => void pending.refetch()} />}
      {failed !== undefined && !list.some(({ id }) => id === failed.id) && <Failed error={failed.error} />}
      {pending.isSuccess && list.length === 0 && (
        <Empty icon={<CircleCheckBig size={32} aria-hidden />} title="Nothing to approve">
          Calls that need an approval appear here at once. <code>policy.*</code> and <code>approvals</code>{' '}
          decide which do.
        </Empty>
      )}
      <section aria-label="Waiting" aria-live="polite">
        {list.map((request) => (
          <ApprovalRequest
            key={request.id}
            ref={request.id === selectedId ? element : undefined}
            request={request}
            isSelected={request.id === selectedId}
            isBusy={busy.has(request.id)}
            isDenying={denying === request.id}
            error={failed?.id === request.id ? failed.error : undefined}
            onSelect={() => select(request.id)}
            onDenying={(is) => setDenying(is ? request.id : undefined)}
            onAnswer={(given) => void give(request, given)}
          />
        ))}
      </section>
      <TrustedServers />
      {(answered.data ?? []).length > 0 && (
        <section aria-label="Answered">
          <h2>Answered</h2>
          <div className="rows">
            {answered.data?.map((one) => (
              <AnsweredRow key={one.id} approval={one} onRevoke={() => void takeBack(one)} />
            ))}
          </div>
        </section>
      )}
    </Page>
  );
}

/** Servers that an operator trusts, so that fewer calls come here. */
function TrustedServers(): ReactNode {
  const gateways = useQuery(gatewaysQuery);
  const trusted = (gateways.data ?? []).filter(
    ({ trust }) => trust?.value === true && trust.origin === 'operator',
  );
  if (trusted.length === 0) return null;
  return (
    <section aria-label="Trusted servers">
      <h2>Trusted servers</h2>
      <div className="rows">
        {trusted.map(({ id, name }) => (
          <div key={id} className="row trusted">
            <span className="grow">
              <HostileText text={name} /> <span className="quiet">Assay relies on its hints.</span>
            </span>
            <ServerTrust server={name} />
          </div>
        ))}
      </div>
    </section>
  );
}
