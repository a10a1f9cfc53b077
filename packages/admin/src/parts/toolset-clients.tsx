import { Button, NativeSelect, SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Check, Copy } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { quoteShellArgument } from '@assay-mcp/kit/shell-argument';
import type { ClientSnippet } from '../../../gateway/src/api/client-snippet.ts';
import { snippetsQuery } from '../state/toolsets.ts';
import { Failed, LoadingRows } from './states.tsx';

/** The entry that `assay connect` would write, to copy. Without a name: for the equipped toolset. */
export function ToolsetClients({ name }: { readonly name?: string }): ReactNode {
  const snippets = useQuery(snippetsQuery(name));
  const [id, setId] = useState('claude-code');
  const [way, setWay] = useState('stdio');
  if (snippets.isPending) return <LoadingRows />;
  if (snippets.data === undefined)
    return <Failed error={snippets.error} onRetry={() => void snippets.refetch()} />;
  const { clients, needsToken, url } = snippets.data;
  const client = clients.find((one) => one.id === id) ?? clients[0];
  if (client === undefined) return null;
  const isHttp = way === 'http' && client.http !== undefined;
  return (
    <>
      <div className="picker-tools">
        <NativeSelect
          aria-label="Client"
          value={client.id}
          onChange={(event) => setId(event.currentTarget.value)}
          data={ordered(clients).map(({ id: value, label }) => ({ value, label }))}
        />
        <SegmentedControl
          size="xs"
          aria-label="How it connects"
          value={isHttp ? 'http' : 'stdio'}
          onChange={setWay}
          data={[
            { value: 'stdio', label: 'It starts Assay' },
            { value: 'http', label: 'By URL', disabled: client.http === undefined },
          ]}
        />
      </div>
      <p className="wrap">
        Paste this into <code>{client.path}</code>, or run{' '}
        <code>
          assay connect {client.id}
          {name !== undefined && ` --toolset ${quoteShellArgument(name)}`}
          {isHttp && ` --http ${quoteShellArgument(url.replace(/\/toolsets\/[^/]+$/, ''))}`}
        </code>
        , which keeps the rest of the file unchanged.
      </p>
      <Snippet key={client.id + way} text={(isHttp ? client.http : undefined) ?? client.stdio} />
      {isHttp && needsToken && (
        <p className="small">
          The client must send a token: <code>assay token create {client.id}</code> prints one; add the header{' '}
          <code>Authorization: Bearer …</code> as the client documents it.
        </p>
      )}
      <p className="quiet small">{client.next}</p>
    </>
  );
}

const FIRST = ['claude-code', 'claude-desktop', 'cursor', 'vscode'];

function ordered(clients: readonly ClientSnippet[]): readonly ClientSnippet[] {
  const rank = ({ id }: ClientSnippet): number => (FIRST.includes(id) ? FIRST.indexOf(id) : FIRST.length);
  return [...clients].sort((one, other) => rank(one) - rank(other));
}

function Snippet({ text }: { readonly text: string }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  return (
    <div className="snippet">
      <pre className="arguments" tabIndex={0} aria-label="Snippet">
        {text}
      </pre>
      <Button
        size="compact-sm"
        variant="default"
        leftSection={isCopied ? <Check size={14} aria-hidden /> : <Copy size={14} aria-hidden />}
        onClick={() =>
          void navigator.clipboard.writeText(text).then(
            () => setCopied(true),
            () => undefined,
          )
        }
      >
        {isCopied ? 'Copied' : 'Copy'}
      </Button>
    </div>
  );
}
