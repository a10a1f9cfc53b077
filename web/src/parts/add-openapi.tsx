import { Textarea, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { addServer } from '../state/servers.ts';
import type { AddKindProps } from './add-command.tsx';
import { AddForm, filled, pairsIn, TrustBox } from './add-form.tsx';

export function AddOpenapi({ onAdded }: AddKindProps): ReactNode {
  const [name, setName] = useState('');
  const [openapi, setOpenapi] = useState('');
  const [baseUrl, setBaseUrl] = useState('');
  const [include, setInclude] = useState('');
  const [headers, setHeaders] = useState('');
  const [isTrusted, setTrusted] = useState(false);
  const { pairs, fault: headersFault } = pairsIn(headers, ':');
  const add = async (): Promise<string> => {
    const patterns = include.split('\n').filter((line) => line.trim() !== '');
    const operations = patterns.length === 0 ? undefined : { include: patterns };
    const body = filled({ name, openapi, baseUrl, headers: pairs, operations });
    return (await addServer({ ...body, trust: isTrusted })).name;
  };
  return (
    <AddForm
      action="Add its operations as tools"
      add={add}
      onAdded={onAdded}
      fields={['name', 'openapi', 'baseUrl', 'headers', 'operations']}
      isDisabled={headersFault !== undefined}
    >
      {(fault) => (
        <>
          <TextInput
            label="Name"
            description="Comes before the names of its tools"
            data-autofocus
            required
            value={name}
            error={fault('name')}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <TextInput
            label="URL of the document"
            placeholder="https://api.example.com/openapi.json"
            type="url"
            value={openapi}
            error={fault('openapi')}
            onChange={(event) => setOpenapi(event.currentTarget.value)}
          />
          <TextInput
            label="Base URL"
            description="Replaces the servers that the document names"
            placeholder="As the document says"
            type="url"
            value={baseUrl}
            error={fault('baseUrl')}
            onChange={(event) => setBaseUrl(event.currentTarget.value)}
          />
          <Textarea
            label="Operations"
            description="Patterns such as tag:pets, /pets/* or GET /*, one per line. Empty: all."
            rows={2}
            value={include}
            error={fault('operations')}
            onChange={(event) => setInclude(event.currentTarget.value)}
          />
          <Textarea
            label="Headers"
            description="Name: value, one per line. Stored encrypted, never shown again."
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
