import { NativeSelect, PasswordInput, SegmentedControl, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { inferFromMethod } from '@assay-mcp/kit/infer-hints';
import type { Hint } from '../../../gateway/src/api/hint.ts';
import { addRestTool } from '../state/servers.ts';
import { HINT_LABELS } from '../state/tools.ts';
import type { AddKindProps } from './add-command.tsx';
import { AddForm, omitEmptyFields } from './add-form.tsx';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'];
/** Defaults of the specification, for hints that are neither declared nor inferred. */
const DEFAULTS: Readonly<Record<Hint, boolean>> = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};
const HINT_NAMES = Object.keys(HINT_LABELS) as readonly Hint[];

type Declared = Readonly<Partial<Record<Hint, boolean>>>;

const FIELDS = ['name', 'url', 'method', 'description', 'auth', 'annotations'];

export function AddRestTool({ onAdded }: AddKindProps): ReactNode {
  const [name, setName] = useState('');
  const [method, setMethod] = useState('GET');
  const [url, setUrl] = useState('');
  const [description, setDescription] = useState('');
  const [token, setToken] = useState('');
  const [declared, setDeclared] = useState<Declared>({});
  const add = async (): Promise<string> => {
    const body = omitEmptyFields({ name, method, url, description });
    const auth = token === '' ? {} : { auth: { type: 'bearer', token } };
    const annotations = Object.keys(declared).length === 0 ? {} : { annotations: declared };
    await addRestTool({ ...body, ...auth, ...annotations });
    return 'local';
  };
  return (
    <AddForm action="Add the tool" add={add} onAdded={onAdded} fields={FIELDS}>
      {(fault) => (
        <>
          <TextInput
            label="Name"
            placeholder="get-user"
            data-autofocus
            required
            value={name}
            error={fault('name')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <div className="pair">
            <NativeSelect
              label="Method"
              value={method}
              data={METHODS}
              error={fault('method')}
              onChange={(event) => setMethod(event.currentTarget.value)}
            />
            <TextInput
              label="URL"
              placeholder="https://api.example.com/users/{id}"
              required
              value={url}
              error={fault('url')}
              onChange={(event) => setUrl(event.currentTarget.value)}
            />
          </div>
          <p className="quiet small">{argumentsText(url)}</p>
          <TextInput
            label="Description"
            description="What models read"
            value={description}
            error={fault('description')}
            onChange={(event) => setDescription(event.currentTarget.value)}
          />
          <PasswordInput
            label="Bearer token"
            description="Stored encrypted and never shown again"
            autoComplete="off"
            value={token}
            error={fault('auth')}
            onChange={(event) => setToken(event.currentTarget.value)}
          />
          <HintFields
            method={method}
            declared={declared}
            onChange={setDeclared}
            fault={fault('annotations')}
          />
        </>
      )}
    </AddForm>
  );
}

/** Names the arguments of a URL while it is typed. */
function argumentsText(url: string): string {
  const names = [...new Set([...url.matchAll(/\{([^{}]+)\}/g)].map(([, name]) => name))];
  if (names.length === 0) return 'Write {name} in the URL in place of an argument.';
  return `Arguments: ${names.join(', ')}.`;
}

interface HintFieldsProps {
  readonly method: string;
  readonly declared: Declared;
  readonly onChange: (declared: Declared) => void;
  readonly fault: string | undefined;
}

function HintFields({ method, declared, onChange, fault }: HintFieldsProps): ReactNode {
  const inferred = inferFromMethod(method);
  const set = (hint: Hint, value: string): void => {
    const { [hint]: _, ...others } = declared;
    onChange(value === 'inherit' ? others : { ...others, [hint]: value === 'true' });
  };
  return (
    <fieldset className="hint-fields">
      <legend>Hints</legend>
      <p className="quiet small" role="status">
        {inferred === undefined
          ? 'No hints can be inferred from this method.'
          : `Inferred from ${method}; you can declare different ones.`}
      </p>
      {HINT_NAMES.map((hint) => {
        const value = inferred?.hints[hint] ?? DEFAULTS[hint];
        return (
          <div key={hint} className="hint-field">
            <span>{HINT_LABELS[hint]}</span>
            <SegmentedControl
              size="xs"
              aria-label={HINT_LABELS[hint]}
              value={declared[hint] === undefined ? 'inherit' : String(declared[hint])}
              onChange={(next) => set(hint, next)}
              data={[
                { value: 'inherit', label: `Inferred: ${value ? 'yes' : 'no'}` },
                { value: 'true', label: 'Yes' },
                { value: 'false', label: 'No' },
              ]}
            />
          </div>
        );
      })}
      {fault !== undefined && (
        <p className="bad small" role="alert">
          {fault}
        </p>
      )}
    </fieldset>
  );
}
