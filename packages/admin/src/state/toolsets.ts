import { queryOptions, type QueryClient } from '@tanstack/react-query';
import type { Bundle } from '../../../gateway/src/api/bundle.ts';
import type { ClientSnippetList } from '../../../gateway/src/api/client-snippet.ts';
import type { ToolNotes } from '../../../gateway/src/api/note.ts';
import type {
  FoundTools,
  NewTools,
  ToolCosts,
  Toolset,
  ToolsetChangesInput,
  ToolsetInput,
  ToolsetPage,
  UnservedTools,
} from '../../../gateway/src/api/toolset.ts';
import { read, readTagged, formatError, write } from './api.ts';
import { notify } from './notices.ts';

function pathOf(name: string): string {
  return `/toolsets/${encodeURIComponent(name)}`;
}

export const toolsetsQuery = queryOptions({
  queryKey: ['toolsets', 'all'],
  queryFn: async ({ signal }): Promise<readonly Toolset[]> => {
    const all: Toolset[] = [];
    let cursor: string | undefined;
    do {
      const after = cursor === undefined ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = await read<ToolsetPage>(`/toolsets?limit=500${after}`, signal);
      all.push(...page.toolsets);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    return all;
  },
});

/** With its ETag, so that an edit replaces only what was seen. */
export const toolsetQuery = (name: string) =>
  queryOptions({
    queryKey: ['toolsets', 'one', name],
    queryFn: ({ signal }) => readTagged<Toolset>(pathOf(name), signal),
  });

/** Polled: a server that starts or stops changes it without an event about the toolset. */
export const unservedQuery = (name: string) =>
  queryOptions({
    queryKey: ['toolsets', 'unserved', name],
    queryFn: async ({ signal }) => (await read<UnservedTools>(`${pathOf(name)}/unserved`, signal)).unserved,
    refetchInterval: 5_000,
  });

export const newToolsQuery = (name: string) =>
  queryOptions({
    queryKey: ['toolsets', 'new', name],
    queryFn: async ({ signal }) => (await read<NewTools>(`${pathOf(name)}/new`, signal)).new,
    refetchInterval: 5_000,
  });

/** By namespaced name. */
export const costsQuery = queryOptions({
  queryKey: ['tools', 'costs'],
  queryFn: async ({ signal }) => (await read<ToolCosts>('/catalog/costs', signal)).tokens,
});

/** Names of tools, best match first. */
export const foundQuery = (query: string) =>
  queryOptions({
    queryKey: ['tools', 'found', query],
    queryFn: async ({ signal }) =>
      (await read<FoundTools>(`/catalog/search?query=${encodeURIComponent(query)}`, signal)).tools,
    enabled: query !== '',
  });

/** Without a toolset: for the equipped one. */
export const snippetsQuery = (toolset: string | undefined) =>
  queryOptions({
    queryKey: ['toolsets', 'snippets', toolset ?? null],
    queryFn: ({ signal }) =>
      read<ClientSnippetList>(
        toolset === undefined ? '/snippets' : `/snippets?toolset=${encodeURIComponent(toolset)}`,
        signal,
      ),
  });

export function createToolset(body: ToolsetInput): Promise<Toolset> {
  return write('POST', '/toolsets', body);
}

export function changeToolset(name: string, changes: ToolsetChangesInput, etag: string): Promise<Toolset> {
  return write('PUT', pathOf(name), changes, etag);
}

export function equip(name: string | undefined): Promise<unknown> {
  return write('POST', name === undefined ? '/toolsets/unequip' : `${pathOf(name)}/equip`);
}

/** Accepts new tools of whole servers. Absent: all. */
export function acceptNew(toolset: string, tools?: readonly string[]): Promise<unknown> {
  return write('POST', `${pathOf(toolset)}/accept`, tools === undefined ? {} : { tools });
}

export interface NoteTarget {
  readonly tool: string;
  readonly toolset: string;
  /** Name of the note. */
  readonly note: string;
}

/** Models read the note from then on. Refused if its text is no longer the one that was shown. */
export async function acceptNote(target: NoteTarget, text: string): Promise<unknown> {
  const { tool, toolset, note } = target;
  const { value, etag } = await readTagged<ToolNotes>(`/tools/${encodeURIComponent(tool)}/notes`);
  const current = value.notes.find((one) => one.toolset === toolset && one.name === note);
  if (current !== undefined && current.note !== text)
    throw new Error('The note has changed since you opened it. Check its text and try again.');
  return write('POST', `${toNotePath(target)}/accept`, undefined, etag);
}

/** The operator becomes the author, and models read the note at once. */
export function editNote(target: NoteTarget, text: string): Promise<unknown> {
  return write('PUT', toNotePath(target), { note: text });
}

export function deleteNote(target: NoteTarget): Promise<unknown> {
  return write('DELETE', toNotePath(target));
}

export function toNotePath({ tool, toolset, note }: NoteTarget): string {
  return `/tools/${encodeURIComponent(tool)}/notes/${encodeURIComponent(toolset)}/${encodeURIComponent(note)}`;
}

/**
 * Deletes a toolset and offers Undo, which restores its notes and pinned definitions too. TOOLSET_EQUIPPED if sessions
 * have equipped it, unless `unequips`.
 */
export async function deleteToolset(
  client: QueryClient,
  { name, isEquipped }: Toolset,
  { unequips }: { readonly unequips: boolean },
): Promise<void> {
  const bundle = await read<Bundle>(`/export?toolset=${encodeURIComponent(name)}`);
  await write('DELETE', `${pathOf(name)}${unequips ? '?unequip=true' : ''}`);
  const restore = async (): Promise<void> => {
    await write('POST', '/import', { bundle, apply: true });
    if (isEquipped) await equip(name);
    await client.invalidateQueries({ queryKey: ['toolsets'] });
  };
  notify({
    text: `Deleted ${name}`,
    undo: () =>
      void restore().catch((error: unknown) =>
        notify({ text: `${name} could not be restored: ${formatError(error)}` }),
      ),
  });
  await client.invalidateQueries({ queryKey: ['toolsets'] });
}
