import { Textarea, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { addServer } from '../state/servers.ts';
import type { AddKindProps } from './add-command.tsx';
import { AddForm, omitEmptyFields, parsePairs, TrustBox } from './add-form.tsx';

export function AddUrl({ onAdded }: AddKindProps): ReactNode {
  const [name, setName] = useState('');
  const [url, setUrl] = useState('');
  const [headers, setHeaders] = useState('');
  const [isTrusted, setTrusted] = useState(false);
  const { pairs, fault: headersFault } = parsePairs(headers, ':');
  const add = async (): Promise<string> =>
    (await addServer({ ...omitEmptyFields({ name, url, headers: pairs }), trust: isTrusted })).name;
  return (
    <AddForm
      action="Add and connect"
      add={add}
      onAdded={onAdded}
      fields={['name', 'url', 'headers']}
      isDisabled={headersFault !== undefined}
    >
      {(fault) => (
        <>
          <TextInput
            label="Name"
            description="Prefix for the names of its tools"
            data-autofocus
            required
            value={name}
            error={fault('name')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            label="URL"
            description="Streamable HTTP is tried first, then SSE"
            placeholder="https://mcp.example.com/mcp"
            type="url"
            required
            value={url}
            error={fault('url')}
            onChange={(event) => setUrl(event.currentTarget.value)}
          />
          <Textarea
            label="Headers"
            description="Name: value, one per line, such as Authorization: Bearer …. Stored encrypted and never shown again."
            rows={2}
            value={headers}
            error={headersFault ?? fault('headers')}
            onChange={(event) => setHeaders(event.currentTarget.value)}
          />
          <TrustBox value={isTrusted} onChange={setTrusted} />
        </>
      )}
    </AddForm>
  );
}
