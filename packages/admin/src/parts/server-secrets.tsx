import { Button, PasswordInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { SecretWanted } from '../../../gateway/src/api/secret.ts';
import type { Gateway } from '../../../gateway/src/api/server.ts';
import { allowSecret, listReferredSecrets, secretsQuery, type ReferredSecret } from '../state/secrets.ts';
import { useMayExecute } from '../state/session.ts';
import { HostileText } from './hostile-text.tsx';
import { NeedsExecute } from './needs-execute.tsx';
import { Failed, LoadingRows } from './states.tsx';

/** The secrets that the entry of a server refers to as `${secret:NAME}`. */
export function ServerSecrets({ gateway }: { readonly gateway: Gateway }): ReactNode {
  const list = useQuery(secretsQuery);
  const mayExecute = useMayExecute();
  if (gateway.references?.some(({ value }) => value.includes('${secret:')) !== true) return null;
  const secrets = list.data === undefined ? [] : listReferredSecrets(gateway, list.data);
  const isLacking = secrets.some(({ access }) => access?.state === 'missing' || access?.state === 'refused');
  return (
    <section className="secrets" aria-labelledby="secrets-title">
      <h2 id="secrets-title">Secrets</h2>
      {list.isPending && <LoadingRows count={1} />}
      {list.isError && <Failed error={list.error} onRetry={() => void list.refetch()} />}
      {isLacking && !mayExecute && (
        <NeedsExecute>Storing a secret or giving it to a server is not for every session.</NeedsExecute>
      )}
      {secrets.map((secret) => (
        <SecretRow key={secret.name} server={gateway.name} secret={secret} mayExecute={mayExecute} />
      ))}
    </section>
  );
}

interface SecretRowProps {
  readonly server: string;
  readonly secret: ReferredSecret;
  readonly mayExecute: boolean;
}

interface Change {
  readonly wanted: SecretWanted;
  readonly value?: string;
}

const STATES = {
  allowed: ['ready', 'Stored, allowed'],
  refused: ['pending', 'Stored, not allowed'],
  missing: ['down', 'Not stored'],
} as const;

function SecretRow({ server, secret: { name, members, access }, mayExecute }: SecretRowProps): ReactNode {
  const client = useQueryClient();
  const [value, setValue] = useState('');
  const saving = useMutation({
    mutationFn: (change: Change) => allowSecret(name, change.wanted, change.value),
    onSuccess: () => setValue(''),
    onSettled: () => client.invalidateQueries(),
  });
  const [level, label] = access === undefined ? (['off', 'Not read yet'] as const) : STATES[access.state];
  return (
    <div className="secret">
      <p className="state-line">
        <span className={`badge level-${level}`}>{label}</span>
        <code className="wrap">
          <HostileText text={name} />
        </code>
        <span className="quiet small wrap">
          <HostileText text={members.join(', ')} />
        </span>
      </p>
      {access !== undefined && access.state !== 'allowed' && (
        <>
          <p className="small wrap">
            It would be given to{' '}
            <code>
              <HostileText text={access.wanted.what} />
            </code>
            , as long as this command or origin stays the same.
          </p>
          {access.state === 'missing' ? (
            <form
              className="actions-line"
              onSubmit={(event) => {
                event.preventDefault();
                saving.mutate({ wanted: access.wanted, value });
              }}
            >
              <PasswordInput
                className="grow"
                aria-label={`Value of ${name}`}
                placeholder="Stored encrypted, and never shown again"
                autoComplete="off"
                maxLength={65_536}
                disabled={!mayExecute}
                value={value}
                onChange={(event) => setValue(event.currentTarget.value)}
              />
              <Button type="submit" loading={saving.isPending} disabled={!mayExecute || value === ''}>
                Store and allow
              </Button>
            </form>
          ) : (
            <div className="actions-line">
              <Button
                variant="default"
                loading={saving.isPending}
                disabled={!mayExecute}
                onClick={() => saving.mutate({ wanted: access.wanted })}
              >
                <span>
                  Let <HostileText text={server} /> use it
                </span>
              </Button>
            </div>
          )}
        </>
      )}
      {saving.isError && <Failed error={saving.error} />}
    </div>
  );
}
