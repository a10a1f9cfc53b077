import { DEFAULT_TOKEN_LIFETIME } from '@assay-mcp/kit/token-lifetimes';
import { Button, NativeSelect, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { NewToken, TokenScope } from '../../../../gateway/src/api/token.ts';
import { Failed } from '../../parts/states.tsx';
import { useScopes } from '../../state/session.ts';
import { useCreateToken } from '../../state/tokens.ts';

const SCOPES: readonly (readonly [scope: TokenScope, meaning: string])[] = [
  ['mcp', 'connect as an MCP client and call tools'],
  ['read', 'read everything here, but change nothing'],
  ['admin', 'change everything here, answer approvals and create tokens'],
  ['execute', 'add servers and modules that run commands on this machine'],
];

const LIFETIMES = [
  { value: '', label: 'until it is revoked' },
  { value: '1d', label: '1 day' },
  { value: '30d', label: '30 days' },
  { value: '90d', label: '90 days' },
  { value: '365d', label: '1 year' },
];

interface TokenFormProps {
  readonly onCancel: () => void;
  readonly onCreated: (token: NewToken) => void;
}

export function TokenForm({ onCancel, onCreated }: TokenFormProps): ReactNode {
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly TokenScope[]>(['mcp']);
  const [expiresIn, setExpiresIn] = useState<string>(DEFAULT_TOKEN_LIFETIME);
  const mine = useScopes();
  const create = useCreateToken();
  return (
    <form
      className="token-form"
      aria-label="Create a token"
      onSubmit={(event) => {
        event.preventDefault();
        const input = { name: name.trim(), scopes, expiresIn: expiresIn === '' ? undefined : expiresIn };
        create.mutate(input, { onSuccess: onCreated });
      }}
      onKeyDown={(event) => event.key === 'Escape' && onCancel()}
    >
      <TextInput
        label="Name"
        description="Who uses it: a person, a program, a machine."
        placeholder="ci"
        maxLength={200}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        autoFocus
      />
      <fieldset>
        <legend>Scopes</legend>
        {SCOPES.map(([scope, meaning]) => (
          <label key={scope} className="check">
            <input
              type="checkbox"
              checked={scopes.includes(scope)}
              disabled={!holds(mine, scope)}
              onChange={(event) =>
                setScopes(
                  event.currentTarget.checked ? [...scopes, scope] : scopes.filter((one) => one !== scope),
                )
              }
            />
            <code>{scope}</code>
            <span className="quiet">
              {holds(mine, scope) ? meaning : `${meaning}; you do not hold it yourself`}
            </span>
          </label>
        ))}
      </fieldset>
      <NativeSelect
        label="Valid"
        value={expiresIn}
        onChange={(event) => setExpiresIn(event.currentTarget.value)}
        data={LIFETIMES}
      />
      {create.isError && <Failed error={create.error} />}
      <div className="buttons">
        <Button type="submit" loading={create.isPending} disabled={name.trim() === '' || scopes.length === 0}>
          Create
        </Button>
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

/** `admin` includes `read` and `mcp`. */
function holds(mine: readonly TokenScope[], scope: TokenScope): boolean {
  return mine.includes(scope) || (scope !== 'execute' && mine.includes('admin'));
}
