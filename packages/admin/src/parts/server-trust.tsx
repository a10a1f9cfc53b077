import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { formatCount } from '@assay-mcp/kit/counted';
import { ShieldCheck, ShieldOff } from 'lucide-react';
import { useId, useState, type ReactNode } from 'react';
import type { GatewayTrust } from '../../../gateway/src/api/server.ts';
import { gatewaysQuery } from '../state/lists.ts';
import { notify } from '../state/notices.ts';
import { useIsAdmin } from '../state/session.ts';
import { changeTrust, formatVerified, toShownNames, trustQuery } from '../state/trust.ts';
import { HostileText } from './hostile-text.tsx';
import { Failed, LoadingRows } from './states.tsx';

interface ServerTrustProps {
  readonly server: string;
  /** What else happens when it becomes trusted, with the button that says so. */
  readonly also?: { readonly label: string; readonly onTrusted: () => void } | undefined;
}

/** A button that first shows what trust in a server changes and what it holds for. Of a trusted one, it withdraws the trust. */
export function ServerTrust({ server, also }: ServerTrustProps): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const trust = useQuery({ ...trustQuery(server), enabled: isOpen });
  const { data: gateways } = useQuery(gatewaysQuery);
  const isAdmin = useIsAdmin();
  const isTrusted = gateways?.some(({ name, trust: now }) => name === server && now?.value === true);
  if (isTrusted === true) return <ServerDistrust server={server} />;
  if (!isOpen)
    return (
      <Button
        variant="default"
        leftSection={<ShieldCheck size={14} aria-hidden />}
        disabled={!isAdmin}
        title={isAdmin ? undefined : 'Requires the scope admin.'}
        onClick={() => setOpen(true)}
      >
        <span>
          Trust <HostileText text={server} />
          ’s hints
        </span>
      </Button>
    );
  const close = (): void => setOpen(false);
  return (
    <>
      {trust.isPending && <LoadingRows count={2} />}
      {trust.isError && <Failed error={trust.error} onRetry={() => void trust.refetch()} />}
      {trust.data !== undefined && <Effects view={trust.data} also={also} onClose={close} />}
    </>
  );
}

interface EffectsProps {
  readonly view: GatewayTrust;
  readonly also: ServerTrustProps['also'];
  readonly onClose: () => void;
}

function Effects({ view, also, onClose }: EffectsProps): ReactNode {
  const { name, target, approvals, notAsked, askedLess, contradicted, studied, trust } = view;
  const id = useId();
  const change = useTrustChange(() => {
    also?.onTrusted();
    onClose();
  });
  const isFixed = trust.origin === 'config_file';
  return (
    <section className="trust" aria-labelledby={id}>
      <h3 id={id}>
        Trust <HostileText text={name} />
        ’s hints?
      </h3>
      <NamedTools label="No longer asked about" tools={notAsked} />
      <NamedTools label="Asked about once per session instead of each time" tools={askedLess} />
      {notAsked.total + askedLess.total === 0 && <p>Its hints change nothing about what Assay asks.</p>}
      {approvals === 'client' && (
        <p>At present your MCP client asks, not Assay. With trust, its hints also permit safe retries.</p>
      )}
      <p>
        This holds for{' '}
        <code className="wrap">
          <HostileText text={target} />
        </code>
        . Another command or origin under this name is not trusted.
      </p>
      <p className="quiet small">{formatVerified(view)}</p>
      <NamedTools label="Contradicted" tools={contradicted} />
      {studied !== undefined && (
        <>
          <p className="quiet small">
            The {studied.origin}, which ships with Assay, has verdicts for{' '}
            {formatCount(studied.tools, 'tool')} of this package.
          </p>
          <NamedTools label={`Contradicted in the ${studied.origin}`} tools={studied.contradicted} />
        </>
      )}
      {isFixed && <p className="small">Its trust is set in the config file; change it there.</p>}
      {change.isError && <Failed error={change.error} />}
      <div className="actions">
        <Button variant="default" disabled={change.isPending} onClick={onClose}>
          Cancel
        </Button>
        <Button
          loading={change.isPending}
          disabled={isFixed}
          onClick={() => change.mutate({ view, isTrusted: true })}
        >
          {also?.label ?? 'Trust them'}
        </Button>
      </div>
    </section>
  );
}

function NamedTools({
  label,
  tools,
}: {
  readonly label: string;
  readonly tools: GatewayTrust['notAsked'];
}): ReactNode {
  if (tools.total === 0) return null;
  const { names, more } = toShownNames(tools);
  return (
    <p>
      {label}: {tools.total.toLocaleString('en')} {tools.total === 1 ? 'tool' : 'tools'} (
      {names.map((name, at) => (
        <span key={name}>
          {at > 0 && ', '}
          <code className="wrap">
            <HostileText text={name} />
          </code>
        </span>
      ))}
      {more > 0 && ` and ${more.toLocaleString('en')} more`}).
    </p>
  );
}

/** Withdraws the trust in a server, at the place where it was given. */
function ServerDistrust({ server }: Pick<ServerTrustProps, 'server'>): ReactNode {
  const trust = useQuery(trustQuery(server));
  const change = useTrustChange();
  const isAdmin = useIsAdmin();
  const view = trust.data;
  const isFixed = view?.trust.origin === 'config_file';
  return (
    <>
      <Button
        variant="default"
        leftSection={<ShieldOff size={14} aria-hidden />}
        loading={change.isPending}
        disabled={!isAdmin || view === undefined || isFixed}
        onClick={() =>
          // Without a decision, only servers that operators wrote themselves are trusted.
          view && change.mutate({ view, isTrusted: view.trust.origin === 'operator' ? null : false })
        }
      >
        <span>
          Stop trusting <HostileText text={server} />
        </span>
      </Button>
      {change.isError && <Failed error={change.error} />}
    </>
  );
}

/**
 * The decision not to trust a server, and its end. Its hints count as before; approval requests no longer offer to trust
 * it.
 */
export function ServerTrustRefusal({ server, isRefused }: TrustRefusalProps): ReactNode {
  const trust = useQuery(trustQuery(server));
  const change = useTrustChange();
  const isAdmin = useIsAdmin();
  const view = trust.data;
  return (
    <>
      <Button
        variant="default"
        leftSection={<ShieldOff size={14} aria-hidden />}
        loading={change.isPending}
        disabled={!isAdmin || view === undefined}
        onClick={() => view && change.mutate({ view, isTrusted: isRefused ? null : false })}
      >
        {isRefused ? 'Offer trust again' : 'Do not trust'}
      </Button>
      {change.isError && <Failed error={change.error} />}
    </>
  );
}

interface TrustRefusalProps {
  readonly server: string;
  /** Whether an operator has decided not to trust it. */
  readonly isRefused: boolean;
}

interface TrustChange {
  readonly view: GatewayTrust;
  /** Null: the default. */
  readonly isTrusted: boolean | null;
}

/** `onDone` is called even after the button is gone. */
function useTrustChange(onDone?: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ view, isTrusted }: TrustChange) => changeTrust(view, isTrusted),
    onSuccess: (changed, { view: { trust: before }, isTrusted }) => {
      onDone?.();
      const back = before.origin === 'operator' ? before.value : null;
      notify({
        text: `${changed.name}’s hints are ${isTrusted === true ? 'trusted' : 'not trusted'}`,
        undo: () => void changeTrust(changed, back).finally(() => client.invalidateQueries()),
      });
    },
    onSettled: () => client.invalidateQueries(),
  });
}
