import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import type { NewToken, Token } from '../../../../gateway/src/api/token.ts';
import { CopyText } from '../../parts/copy-text.tsx';
import { HostileText } from '../../parts/hostile-text.tsx';
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx';
import { When } from '../../parts/when.tsx';
import { useIsAdmin } from '../../state/session.ts';
import { tokensQuery, useRevokeToken } from '../../state/tokens.ts';
import { TokenForm } from './token-form.tsx';
import { TokenPreferences } from './token-preferences.tsx';

export function TokensSection(): ReactNode {
  const tokens = useQuery(tokensQuery);
  const isAdmin = useIsAdmin();
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<NewToken>();
  return (
    <>
      <div className="filters">
        <p className="quiet grow">
          Programs sign in with tokens. Their actions are recorded under the token’s name.
        </p>
        {isAdmin && !isCreating && (
          <Button
            leftSection={<Plus size={14} aria-hidden />}
            onClick={() => {
              setCreated(undefined);
              setCreating(true);
            }}
          >
            Create a token
          </Button>
        )}
      </div>
      {isCreating && (
        <TokenForm
          onCancel={() => setCreating(false)}
          onCreated={(token) => {
            setCreated(token);
            setCreating(false);
          }}
        />
      )}
      {created !== undefined && <Created token={created} onDone={() => setCreated(undefined)} />}
      {tokens.isPending && <LoadingRows count={4} />}
      {tokens.isError && <Failed error={tokens.error} onRetry={() => void tokens.refetch()} />}
      {tokens.data?.length === 0 && (
        <Empty icon={<KeyRound size={32} aria-hidden />} title="No tokens yet">
          MCP clients on this machine need one only if <code>mcp.access</code> is <code>token</code>; programs
          that use the REST API always need one.
        </Empty>
      )}
      <div className="rows">
        {tokens.data?.map((token) => (
          <TokenRow key={token.id} token={token} mayChange={isAdmin} />
        ))}
      </div>
    </>
  );
}

function Created({ token, onDone }: { readonly token: NewToken; readonly onDone: () => void }): ReactNode {
  return (
    <section className="created" aria-label="The new token">
      <p>
        <strong>
          Token <HostileText text={token.name} />
        </strong>
        . It is shown only once: copy it now.
      </p>
      <CopyText label="The new token" text={token.token} />
      <Button variant="default" onClick={onDone}>
        Done
      </Button>
    </section>
  );
}

const STATES: Readonly<Record<Token['state'], string>> = {
  valid: 'Valid',
  expired: 'Expired',
  revoked: 'Revoked',
  unreadable: 'Changed, cannot be read',
};

function TokenRow({ token, mayChange }: { readonly token: Token; readonly mayChange: boolean }): ReactNode {
  const { id, name, scopes, state, createdAt, expiresAt, revokedAt } = token;
  const [isOpen, setOpen] = useState(false);
  return (
    <div role="group" aria-label={`Token ${name}`}>
      <div className="row">
        <span className={`badge token-${state}`}>{STATES[state]}</span>
        <span className="grow">
          <strong>
            <HostileText text={name} />
          </strong>{' '}
          <code className="quiet wide">{id}</code>
        </span>
        <span className="scopes">
          {scopes.map((scope) => (
            <code key={scope} className="scope">
              {scope}
            </code>
          ))}
        </span>
        <span className="quiet wide">
          {revokedAt !== null ? (
            <>
              revoked <When at={revokedAt} />
            </>
          ) : expiresAt !== null ? (
            <>
              {state === 'expired' ? 'expired' : 'expires'} <When at={expiresAt} />
            </>
          ) : (
            <>
              created <When at={createdAt} />
            </>
          )}
        </span>
        {state === 'valid' && mayChange && (
          <>
            <button
              type="button"
              className="link"
              data-row
              aria-expanded={isOpen}
              onClick={() => setOpen(!isOpen)}
            >
              Preferences
            </button>
            <Revoke id={id} name={name} />
          </>
        )}
        {state === 'unreadable' && mayChange && <Revoke id={id} name={name} />}
      </div>
      {isOpen && <TokenPreferences id={id} />}
    </div>
  );
}

/** Revoking cannot be undone, so it needs a second click. */
function Revoke({ id, name }: Pick<Token, 'id' | 'name'>): ReactNode {
  const [isSure, setSure] = useState(false);
  const revoke = useRevokeToken();
  if (!isSure)
    return (
      <Button size="compact-xs" variant="default" aria-label={`Revoke ${name}`} onClick={() => setSure(true)}>
        Revoke
      </Button>
    );
  return (
    <>
      {revoke.isError && <Failed error={revoke.error} />}
      <Button
        size="compact-xs"
        color="red"
        autoFocus
        loading={revoke.isPending}
        onKeyDown={(event) => event.key === 'Escape' && setSure(false)}
        onClick={() => revoke.mutate(id)}
      >
        Revoke permanently
      </Button>
      <Button size="compact-xs" variant="default" onClick={() => setSure(false)}>
        Keep
      </Button>
    </>
  );
}
