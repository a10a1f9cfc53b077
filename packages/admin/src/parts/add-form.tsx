import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { SyntheticEvent, ReactNode } from 'react';
import { findFieldError, isToldAt } from '../state/api.ts';
import { Failed } from './states.tsx';

interface AddFormProps {
  readonly action: string;
  /** Sends the form. Resolves with the name of the server to open, or undefined if nothing has been added yet. */
  readonly add: () => Promise<string | undefined>;
  readonly onAdded: (name: string) => void;
  /** Fields of the body that show their own errors. */
  readonly fields: readonly string[];
  readonly isDisabled?: boolean;
  readonly progress?: string;
  /** `fault` returns the error of a field of the body. */
  readonly children: (fault: (field: string) => string | undefined) => ReactNode;
}

const CONNECTING = 'Connecting, for at most 10 seconds…';

/** Input is kept until it has been accepted. */
export function AddForm({
  action,
  add,
  onAdded,
  fields,
  isDisabled,
  progress = CONNECTING,
  children,
}: AddFormProps): ReactNode {
  const client = useQueryClient();
  const adding = useMutation({
    mutationFn: add,
    onSuccess: async (name) => {
      if (name === undefined) return;
      await client.invalidateQueries();
      onAdded(name);
    },
  });
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (!adding.isPending) adding.mutate();
  };
  return (
    <form className="add-form" onSubmit={submit} noValidate>
      {children((field) => findFieldError(adding.error, field))}
      {adding.isError && !isToldAt(adding.error, fields) && <Failed error={adding.error} />}
      <div className="actions-line end">
        {adding.isPending && (
          <span className="quiet small" role="status">
            {progress}
          </span>
        )}
        <Button type="submit" loading={adding.isPending} disabled={isDisabled === true}>
          {action}
        </Button>
      </div>
    </form>
  );
}

interface TrustBoxProps {
  readonly value: boolean;
  readonly onChange: (value: boolean) => void;
}

export function TrustBox({ value, onChange }: TrustBoxProps): ReactNode {
  return (
    <label className="check">
      <input type="checkbox" checked={value} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>
        Trust its hints
        <span className="quiet small">Trusted hints may lower caution. You can change this later.</span>
      </span>
    </label>
  );
}

/** `NAME=value` or `Name: value`, one per line. Undefined if there is none; the error names the line. */
export function parsePairs(
  text: string,
  separator: '=' | ':',
): { readonly pairs?: Readonly<Record<string, string>>; readonly fault?: string } {
  const pairs: Record<string, string> = {};
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const at = line.indexOf(separator);
    if (at < 1)
      return { fault: `Line ${index + 1} is not ${separator === '=' ? 'NAME=value' : 'Name: value'}.` };
    pairs[line.slice(0, at).trim()] = separator === ':' ? line.slice(at + 1).trim() : line.slice(at + 1);
  }
  return Object.keys(pairs).length === 0 ? {} : { pairs };
}

/** Without members that are undefined or empty. If a required one is, the server says so. */
export function omitEmptyFields<T extends object>(body: T): T {
  const given = Object.entries(body).filter(([, value]) => value !== undefined && value !== '');
  return Object.fromEntries(given) as T; // except for required ones
}
