import { Button, Modal, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { OctagonX, Play } from 'lucide-react';
import { useId, useState, type ReactNode } from 'react';
import type { StopView } from '../../../gateway/src/api/stop.ts';
import { notify } from '../state/notices.ts';
import { useIsAdmin } from '../state/session.ts';
import {
  createStop,
  endStop,
  matchesTarget,
  type Stoppable,
  stopsQuery,
  toStopInput,
} from '../state/stops.ts';
import { HostileText } from './hostile-text.tsx';
import { Failed } from './states.tsx';
import { When } from './when.tsx';

/** Stops a tool, a server or all calls, with a reason; shows what is stopped and enables it again. */
export function StopControl({ what }: { readonly what: Stoppable }): ReactNode {
  const { data: stops = [] } = useQuery(stopsQuery);
  const [isOpen, setOpen] = useState(false);
  const isAdmin = useIsAdmin();
  const stop = stops.find((one) => matchesTarget(one, what));
  if (stop !== undefined) return <ActiveStop stop={stop} />;
  if (isOpen) return <NewStop what={what} onClose={() => setOpen(false)} />;
  return (
    <Button
      variant="default"
      leftSection={<OctagonX size={14} aria-hidden />}
      disabled={!isAdmin}
      title={isAdmin ? undefined : 'Requires the scope admin.'}
      onClick={() => setOpen(true)}
    >
      {STOP_LABELS[what.kind]}
    </Button>
  );
}

export const STOP_LABELS = {
  all_calls: 'Stop all calls',
  server: 'Stop this server',
  tool: 'Stop this tool',
} as const;

const EFFECTS = {
  all_calls: 'No call reaches any server until you enable them again.',
  server: 'Nothing is sent to this server for clients until you enable it again.',
  tool: 'No call of this tool is sent until you enable it again.',
} as const;

function NewStop({ what, onClose }: { readonly what: Stoppable; readonly onClose: () => void }): ReactNode {
  const [reason, setReason] = useState('');
  const id = useId();
  const stop = useStopChange(() => createStop(toStopInput(what, reason)), 'Stopped');
  return (
    <form
      className="trust"
      aria-labelledby={id}
      onSubmit={(event) => {
        event.preventDefault();
        stop.mutate(undefined, { onSuccess: onClose });
      }}
    >
      <h3 id={id}>{STOP_LABELS[what.kind]}?</h3>
      <p>
        {EFFECTS[what.kind]} On every replica, also after a restart, and for calls that wait. Calls that were
        already sent are not cut. Tools stay listed.
      </p>
      <TextInput
        label="Reason"
        description="Optional. Shown to callers, including models."
        maxLength={300}
        value={reason}
        data-autofocus
        onChange={(event) => setReason(event.currentTarget.value)}
      />
      {stop.isError && <Failed error={stop.error} />}
      <div className="actions">
        <Button variant="default" disabled={stop.isPending} onClick={onClose}>
          Cancel
        </Button>
        <Button type="submit" color="red" loading={stop.isPending}>
          {STOP_LABELS[what.kind]}
        </Button>
      </div>
    </form>
  );
}

function ActiveStop({ stop }: { readonly stop: StopView }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const isAdmin = useIsAdmin();
  const end = useStopChange(() => endStop(stop), 'Enabled');
  return (
    <section className="stopped" aria-label="Stopped">
      <p>
        <strong>Stopped</strong> by <HostileText text={stop.by} /> <When at={stop.at} />
        {stop.reason !== undefined && (
          <>
            : <HostileText text={stop.reason} />
          </>
        )}
      </p>
      {isOpen && <Released stop={stop} />}
      {end.isError && <Failed error={end.error} />}
      <div className="actions">
        {isOpen && (
          <Button variant="default" onClick={() => setOpen(false)}>
            Cancel
          </Button>
        )}
        <Button
          variant={isOpen ? 'filled' : 'default'}
          leftSection={<Play size={14} aria-hidden />}
          disabled={!isAdmin}
          title={isAdmin ? undefined : 'Requires the scope admin.'}
          loading={end.isPending}
          onClick={() => (isOpen ? end.mutate() : setOpen(true))}
        >
          {isOpen ? 'Enable' : 'Enable…'}
        </Button>
      </div>
    </section>
  );
}

const MAX_SHOWN = 12;

function Released({ stop: { releases } }: { readonly stop: StopView }): ReactNode {
  const shown = releases.destructive.slice(0, MAX_SHOWN);
  const more = releases.destructiveCount - shown.length;
  return (
    <>
      <p>
        Enabling allows {releases.tools.toLocaleString('en')} {releases.tools === 1 ? 'tool' : 'tools'}
        {releases.destructiveCount === 0
          ? ', none of which may be destructive.'
          : `, of which ${releases.destructiveCount.toLocaleString('en')} may be destructive:`}
      </p>
      {shown.length > 0 && (
        <p className="wrap">
          <HostileText text={shown.join(', ')} />
          {more > 0 && ` and ${more.toLocaleString('en')} more`}
        </p>
      )}
      {releases.unlisted.length > 0 && (
        <p className="wrap">
          Not known now: the tools of <HostileText text={releases.unlisted.join(', ')} />
        </p>
      )}
    </>
  );
}

function useStopChange(change: () => Promise<unknown>, done: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: change,
    onSuccess: () => notify({ text: done }),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: stopsQuery.queryKey }),
        client.invalidateQueries({ queryKey: ['policy'] }),
      ]),
  });
}

/** Stops all calls, from every page. */
export function StopDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  return (
    <Modal opened onClose={onClose} title="Stop all calls" closeButtonProps={{ 'aria-label': 'Close' }}>
      <NewStop what={{ kind: 'all_calls' }} onClose={onClose} />
    </Modal>
  );
}
