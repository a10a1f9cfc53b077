import { Button, NativeSelect, PasswordInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import type { ImportInput, ImportPlan } from '../../../../gateway/src/api/bundle.ts';
import { ImportPlanTable, countPlanChanges } from '../../parts/import-plan.tsx';
import { Failed } from '../../parts/states.tsx';
import { importBundle } from '../../state/bundles.ts';

const MAX_BYTES = 16 * 1024 * 1024;

/** Takes a file, shows what it would change, and only then offers Apply. */
export function ImportForm(): ReactNode {
  const client = useQueryClient();
  const [file, setFile] = useState<File>();
  const [passphrase, setPassphrase] = useState('');
  const [onConflict, setOnConflict] = useState<NonNullable<ImportInput['onConflict']>>('replace');
  const dryRun = useMutation({
    mutationFn: async (chosen: File): Promise<{ readonly input: ImportInput; readonly plan: ImportPlan }> => {
      const bundle = await bundleIn(chosen);
      const input = { bundle, onConflict, ...(passphrase !== '' && { passphrase }) };
      return { input, plan: await importBundle(input) };
    },
  });
  const apply = useMutation({
    mutationFn: (input: ImportInput) => importBundle({ ...input, apply: true }),
    onSuccess: () => {
      dryRun.reset();
      void client.invalidateQueries();
    },
  });
  // A plan for another file or passphrase must not be applied.
  const restart = (): void => {
    dryRun.reset();
    apply.reset();
  };
  const planned = dryRun.data;
  const count = planned === undefined ? 0 : countPlanChanges(planned.plan);
  return (
    <>
      <form
        className="inline-form"
        onSubmit={(event) => {
          event.preventDefault();
          apply.reset();
          if (file !== undefined) dryRun.mutate(file);
        }}
      >
        <label className="file">
          <span>File</span>
          <input
            type="file"
            accept="application/json,.json"
            onChange={(event) => {
              setFile(event.currentTarget.files?.[0]);
              restart();
            }}
          />
        </label>
        <PasswordInput
          label="Passphrase, if its secrets are encrypted"
          autoComplete="off"
          maxLength={1_000}
          value={passphrase}
          onChange={(event) => {
            setPassphrase(event.currentTarget.value);
            restart();
          }}
        />
        <NativeSelect
          label="Existing items that differ"
          value={onConflict}
          onChange={(event) => {
            setOnConflict(event.currentTarget.value as typeof onConflict);
            restart();
          }}
          data={[
            { value: 'replace', label: 'is replaced' },
            { value: 'keep', label: 'stays' },
          ]}
        />
        <Button type="submit" variant="default" loading={dryRun.isPending} disabled={file === undefined}>
          Preview changes
        </Button>
      </form>
      {dryRun.isError && <Failed error={dryRun.error} />}
      {planned !== undefined && (
        <section aria-label="Changes">
          <ImportPlanTable plan={planned.plan} />
          {apply.isError && <Failed error={apply.error} />}
          <div className="buttons">
            <Button
              loading={apply.isPending}
              disabled={count === 0}
              onClick={() => apply.mutate(planned.input)}
            >
              {count === 0 ? 'Nothing to apply' : `Apply ${count} ${count === 1 ? 'change' : 'changes'}`}
            </Button>
            <Button variant="default" onClick={restart}>
              Discard
            </Button>
          </div>
        </section>
      )}
      {apply.data !== undefined && (
        <section aria-label="Applied changes">
          <ImportPlanTable plan={apply.data} />
        </section>
      )}
    </>
  );
}

async function bundleIn(file: File): Promise<unknown> {
  if (file.size > MAX_BYTES) throw new Error('The file is larger than 16 MiB, the limit for imports.');
  const text = await file.text();
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new Error(`The file is not JSON: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
