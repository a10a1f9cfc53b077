import { Button, PasswordInput } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { Failed } from '../../parts/states.tsx';
import { downloadSealed } from '../../state/bundles.ts';
import { ImportForm } from './import-form.tsx';

const MIN_PASSPHRASE = 12;

export function BackupSection(): ReactNode {
  return (
    <>
      <section aria-label="Export">
        <h2>Export</h2>
        <p className="quiet">
          One file with everything that operators created here: servers, tools, overrides, toolsets, notes and
          preferences. Tokens and approvals are not included.
        </p>
        <Export />
      </section>
      <section aria-label="Import">
        <h2>Import</h2>
        <p className="quiet">
          You see the changes before anything is applied. Anything that the file does not contain is kept.
        </p>
        <ImportForm />
      </section>
    </>
  );
}

function Export(): ReactNode {
  const [passphrase, setPassphrase] = useState('');
  const sealed = useMutation({ mutationFn: downloadSealed, onSuccess: () => setPassphrase('') });
  return (
    <>
      <p>
        <Button
          component="a"
          href="/export"
          download
          variant="default"
          leftSection={<Download size={14} aria-hidden />}
        >
          Download without secrets
        </Button>
      </p>
      <form
        className="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          sealed.mutate(passphrase);
        }}
      >
        <PasswordInput
          label="Passphrase"
          description={`Encrypts the secrets in the file; ${MIN_PASSPHRASE} characters or more.`}
          autoComplete="new-password"
          maxLength={1_000}
          value={passphrase}
          onChange={(event) => setPassphrase(event.currentTarget.value)}
        />
        <Button
          type="submit"
          variant="default"
          leftSection={<Download size={14} aria-hidden />}
          loading={sealed.isPending}
          disabled={passphrase.length < MIN_PASSPHRASE}
        >
          Download with encrypted secrets
        </Button>
      </form>
      {sealed.isError && <Failed error={sealed.error} />}
    </>
  );
}
