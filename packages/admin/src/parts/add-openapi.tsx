import { useState, type ReactNode } from 'react';
import type { DocumentPreview as Preview, GatewayChange } from '../../../gateway/src/api/server.ts';
import { addServer, previewDocument } from '../state/servers.ts';
import type { AddKindProps } from './add-command.tsx';
import { AddForm, omitEmptyFields, parsePairs } from './add-form.tsx';
import { DocumentFields, EMPTY_DRAFT, type DocumentDraft } from './document-fields.tsx';
import { DocumentPreview } from './document-preview.tsx';

/** First shows what a document would add, then adds exactly that. */
export function AddOpenapi({ onAdded }: AddKindProps): ReactNode {
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const [shown, setShown] = useState<Preview>();
  const { pairs, fault: headersFault } = parsePairs(draft.headers, ':');
  const change = (part: Partial<DocumentDraft>): void => {
    setDraft((now) => ({ ...now, ...part }));
    // A change of only the name does not change the preview.
    if (Object.keys(part).some((key) => key !== 'name')) setShown(undefined);
  };
  const add = async (): Promise<string | undefined> => {
    const body = bodyOf(draft, pairs);
    if (shown !== undefined) return (await addServer({ name: draft.name, ...body })).name;
    setShown(await previewDocument(body));
    return undefined;
  };
  return (
    <AddForm
      action={shown === undefined ? 'Preview tools' : `Add ${countText(shown.total)}`}
      add={add}
      onAdded={onAdded}
      fields={['name', draft.from === 'file' ? 'document' : 'openapi', 'baseUrl', 'headers', 'operations']}
      progress={shown === undefined ? 'Reading the document…' : 'Adding…'}
      isDisabled={headersFault !== undefined}
    >
      {(fault) => (
        <>
          <DocumentFields
            draft={draft}
            onChange={change}
            fault={(field) => (field === 'headers' ? (headersFault ?? fault(field)) : fault(field))}
          />
          {shown !== undefined && <DocumentPreview preview={shown} />}
        </>
      )}
    </AddForm>
  );
}

function bodyOf(
  { from, document, openapi, baseUrl, include, trust }: DocumentDraft,
  headers: Readonly<Record<string, string>> | undefined,
): GatewayChange {
  const patterns = include.split('\n').filter((line) => line.trim() !== '');
  const operations = patterns.length === 0 ? undefined : { include: patterns };
  const source = from === 'file' ? { document } : { openapi };
  return { ...source, ...omitEmptyFields({ baseUrl, headers, operations }), trust };
}

function countText(count: number): string {
  return count === 1 ? '1 tool' : `${count.toLocaleString('en')} tools`;
}
