import type { ClientSnippet } from '../../../gateway/ports/client-snippets.ts';
import { CLIENTS, type Client } from './clients.ts';
import { FORMATS } from './file-formats.ts';
import { listUserFiles, type Machine } from './locate-client.ts';
import { buildOwnEntry, type OwnCommand } from './own-entry.ts';
import type { EntryShape } from './entry-shapes.ts';

interface SnippetOptions extends Machine {
  readonly ownCommand: OwnCommand;
  /** Command options, with absolute paths. */
  readonly options: readonly string[];
  readonly url: string;
}

/** The entries that `assay connect` writes, each as the text of a file that has nothing else. */
export function buildClientSnippets(request: SnippetOptions): readonly ClientSnippet[] {
  return CLIENTS.flatMap((client): readonly ClientSnippet[] => {
    const [file] = listUserFiles(client, request);
    if (file === undefined) return [];
    const { id, label, format, next } = client;
    const stdio = textOf(client, file.shape, { ...request, url: undefined });
    const http = file.shape.http && textOf(client, file.shape, request);
    if (stdio === undefined) return [];
    return [{ id, label, path: file.path, format, stdio, ...(http !== undefined && { http }), next }];
  });
}

function textOf(
  { format, keys }: Client,
  shape: EntryShape,
  request: Omit<SnippetOptions, 'url'> & { readonly url: string | undefined },
): string | undefined {
  const entry = buildOwnEntry({ ...request, shape });
  const written = FORMATS[format].withMember('', [...(keys[0] ?? []), 'assay'], entry);
  return written.ok ? written.value.text : undefined;
}
