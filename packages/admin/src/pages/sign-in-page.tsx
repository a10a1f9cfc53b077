import { Button, PasswordInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import icon from '../icon.svg';
import { Failed } from '../parts/states.tsx';
import { signIn } from '../state/session.ts';

interface SignInPageProps {
  readonly code: string | undefined;
  /** Called when the code was used, or refused. */
  readonly onTried: () => void;
}

export function SignInPage({ code, onTried }: SignInPageProps): ReactNode {
  const client = useQueryClient();
  const [token, setToken] = useState('');
  const attempt = useMutation({
    mutationFn: (proof: { readonly code: string } | { readonly token: string }) =>
      signIn(client, proof).finally(onTried),
  });
  const sent = useRef(false);
  useEffect(() => {
    if (code === undefined || sent.current) return;
    sent.current = true;
    attempt.mutate({ code });
  }, [code, attempt]);
  return (
    <main className="sign-in">
      <title>Sign in · Assay</title>
      <div>
        <img src={icon} alt="" width={36} height={36} />
        <h1>Sign in to Assay</h1>
        <p className="quiet">
          Run <code>assay token link</code> on the machine of the gateway and open the link that it prints, or
          use a token with the scope <code>admin</code> or <code>read</code>.
        </p>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            attempt.mutate({ token: token.trim() }, { onSuccess: () => setToken('') });
          }}
        >
          <PasswordInput
            label="Token"
            value={token}
            onChange={(event) => setToken(event.currentTarget.value)}
            placeholder="assay_…"
            autoComplete="off"
            size="sm"
            disabled={attempt.isPending}
          />
          {attempt.isError && <Failed error={attempt.error} />}
          <Button type="submit" size="sm" loading={attempt.isPending} disabled={token.trim() === ''}>
            Sign in
          </Button>
        </form>
      </div>
    </main>
  );
}
