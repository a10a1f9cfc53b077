import { SegmentedControl, Textarea, TextInput } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { TrustBox } from './add-form.tsx';

/** The form's input about an OpenAPI document. */
export interface DocumentDraft {
  readonly name: string;
  readonly from: 'file' | 'url';
  /** Text of the document. */
  readonly document: string;
  readonly openapi: string;
  readonly baseUrl: string;
  /** Patterns, one per line. */
  readonly include: string;
  readonly headers: string;
  readonly trust: boolean;
}

export const EMPTY_DRAFT: DocumentDraft = {
  name: '',
  from: 'file',
  document: '',
  openapi: '',
  baseUrl: '',
  include: '',
  headers: '',
  trust: false,
};

interface DocumentFieldsProps {
  readonly draft: DocumentDraft;
  readonly onChange: (part: Partial<DocumentDraft>) => void;
  /** Returns the error of a field of the body. */
  readonly fault: (field: string) => string | undefined;
}

export function DocumentFields({ draft, onChange, fault }: DocumentFieldsProps): ReactNode {
  return (
    <>
      <TextInput
        label="Name"
        description="Prefix for the names of its tools"
        data-autofocus
        required
        value={draft.name}
        error={fault('name')}
        onChange={(event) => onChange({ name: event.currentTarget.value })}
      />
      <SegmentedControl
        aria-label="Source of the document"
        value={draft.from}
        onChange={(from) => onChange({ from })}
        data={[
          { value: 'file', label: 'A file or text' },
          { value: 'url', label: 'At a URL' },
        ]}
      />
      {draft.from === 'file' ? (
        <DocumentText
          text={draft.document}
          onText={(document) => onChange({ document })}
          fault={fault('document')}
        />
      ) : (
        <TextInput
          label="URL of the document"
          description="Read again at each start, to detect changes"
          placeholder="https://api.example.com/openapi.json"
          type="url"
          value={draft.openapi}
          error={fault('openapi')}
          onChange={(event) => onChange({ openapi: event.currentTarget.value })}
        />
      )}
      <TextInput
        label="Base URL"
        description="Replaces the servers in the document"
        placeholder="From the document"
        type="url"
        value={draft.baseUrl}
        error={fault('baseUrl')}
        onChange={(event) => onChange({ baseUrl: event.currentTarget.value })}
      />
      <Textarea
        label="Operations"
        description="Patterns such as tag:pets, /pets/* or GET /*, one per line. Empty: all."
        rows={2}
        value={draft.include}
        error={fault('operations')}
        onChange={(event) => onChange({ include: event.currentTarget.value })}
      />
      <Textarea
        label="Headers"
        description="Name: value, one per line. Stored encrypted and never shown again."
        rows={2}
        value={draft.headers}
        error={fault('headers')}
        onChange={(event) => onChange({ headers: event.currentTarget.value })}
      />
      <TrustBox value={draft.trust} onChange={(trust) => onChange({ trust })} />
    </>
  );
}

const MAX_BYTES = 4 * 1024 * 1024;

interface DocumentTextProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly fault: string | undefined;
}

/** A text area to paste into or edit, or to fill from a file. */
function DocumentText({ text, onText, fault }: DocumentTextProps): ReactNode {
  const [fileFault, setFileFault] = useState<string>();
  const take = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    const isTooLarge = file.size > MAX_BYTES;
    setFileFault(isTooLarge ? 'The file is larger than 4 MiB. Give its URL instead.' : undefined);
    if (!isTooLarge) onText(await file.text());
  };
  return (
    <div className="document-text">
      <label className="file">
        <span>File</span>
        <input
          type="file"
          accept=".json,.yaml,.yml,application/json,application/yaml"
          onChange={(event) => void take(event.currentTarget.files?.[0])}
        />
      </label>
      <Textarea
        label="Document"
        description="OpenAPI 3.0 or 3.1, as JSON or YAML"
        classNames={{ input: 'code-input' }}
        spellCheck={false}
        required
        rows={8}
        value={text}
        error={fileFault ?? fault}
        onChange={(event) => {
          setFileFault(undefined);
          onText(event.currentTarget.value);
        }}
      />
    </div>
  );
}
