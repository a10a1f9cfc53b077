import { queryOptions, type QueryClient } from '@tanstack/react-query';
import type { Bundle } from '../../../gateway/src/api/bundle.ts';
import type { Tool, ToolCreate, ToolPage } from '../../../gateway/src/api/tool.ts';
import type { Instructions, InstructionsList } from '../../../gateway/src/api/instructions.ts';
import type {
  DocumentPreview,
  Gateway,
  GatewayChange,
  GatewayInput,
  GatewayLogs,
  RefreshResult,
} from '../../../gateway/src/api/server.ts';
import { read, readTagged, formatError, write } from './api.ts';
import { gatewaysQuery } from './lists.ts';
import { notify } from './notices.ts';

function pathOf(id: string): string {
  return `/gateways/${encodeURIComponent(id)}`;
}

/** Polled, because there is no event for log lines. */
export const logsQuery = (id: string) =>
  queryOptions({
    queryKey: ['gateways', 'logs', id],
    queryFn: async ({ signal }) => (await read<GatewayLogs>(`${pathOf(id)}/logs`, signal)).lines,
    refetchInterval: 2_000,
  });

const MAX_DRIFTED = 200;

/** Tools whose definition differs from the accepted one, of all servers, because the list marks those servers. */
export const driftedQuery = queryOptions({
  queryKey: ['tools', 'drifted'],
  queryFn: ({ signal }) => read<ToolPage>(`/tools?drift=any&limit=${MAX_DRIFTED}`, signal),
});

export const driftedOfQuery = (id: string) =>
  queryOptions({
    queryKey: ['tools', 'drifted', id],
    queryFn: ({ signal }) =>
      read<ToolPage>(`/tools?drift=any&limit=${MAX_DRIFTED}&gatewayId=${encodeURIComponent(id)}`, signal),
  });

/** With its ETag, so that exactly what was seen is accepted. */
export const driftQuery = (id: string) =>
  queryOptions({
    queryKey: ['tools', 'drift', id],
    queryFn: ({ signal }) => readTagged<Tool>(`/tools/${encodeURIComponent(id)}`, signal),
  });

export function acceptDefinition(id: string, etag: string): Promise<unknown> {
  return write('POST', `/tools/${encodeURIComponent(id)}/review`, undefined, etag);
}

/** Servers whose instructions wait for a review. */
export const changedInstructionsQuery = queryOptions({
  queryKey: ['gateways', 'instructions'],
  queryFn: async ({ signal }) =>
    (await read<InstructionsList>('/instructions?drift=any', signal)).instructions,
});

export const instructionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['gateways', 'instructions', id],
    queryFn: ({ signal }) => readTagged<Instructions>(`${pathOf(id)}/instructions`, signal),
  });

export function acceptInstructions(id: string, etag: string): Promise<unknown> {
  return write('POST', `${pathOf(id)}/instructions/review`, undefined, etag);
}

export function refreshServer(id: string): Promise<RefreshResult> {
  return write('POST', `${pathOf(id)}/refresh`, {});
}

export function restartServer(id: string): Promise<Gateway> {
  return write('POST', `${pathOf(id)}/restart`, {});
}

export function addServer(body: GatewayInput): Promise<Gateway> {
  return write('POST', '/gateways', body);
}

/** The tools that a body of `addServer` with an OpenAPI document would add. */
export function previewDocument(body: GatewayChange): Promise<DocumentPreview> {
  return write('POST', '/openapi/preview', body);
}

export function addRestTool(body: ToolCreate): Promise<unknown> {
  return write('POST', '/tools', body);
}

export function changeServer(id: string, edit: GatewayChange): Promise<Gateway> {
  return write('PATCH', pathOf(id), edit);
}

/** Shows an edit at once. Returns a function that reverts it, for refusals. */
export function showEdit(client: QueryClient, id: string, edit: Partial<Gateway>): () => void {
  const before = client.getQueryData(gatewaysQuery.queryKey);
  client.setQueryData(gatewaysQuery.queryKey, (list) =>
    list?.map((one) => (one.id === id ? { ...one, ...edit } : one)),
  );
  return () => client.setQueryData(gatewaysQuery.queryKey, before);
}

/** `randomUUID` is missing if the pages are not loaded over https or from loopback. */
function randomText(): string {
  return [...crypto.getRandomValues(new Uint32Array(6))].map((word) => word.toString(36)).join('-');
}

/**
 * Removes a server. With `mayUndo`, offers Undo: until the offer ends, its entry with its secrets is kept encrypted
 * with a passphrase that only this page knows.
 */
export async function removeServer(
  client: QueryClient,
  { id, name }: Gateway,
  mayUndo: boolean,
): Promise<void> {
  const passphrase = randomText();
  const kept = mayUndo ? await write<Bundle>('POST', '/export', { passphrase }) : undefined;
  await write('DELETE', pathOf(id));
  const undo = (bundle: Bundle): void =>
    void restore(client, bundle, { name, passphrase }).catch((error: unknown) =>
      notify({ text: `${name} could not be restored: ${formatError(error)}` }),
    );
  notify({ text: `Removed ${name}`, ...(kept !== undefined && { undo: () => undo(kept) }) });
  await client.invalidateQueries();
}

async function restore(
  client: QueryClient,
  { records, sealed }: Bundle,
  { name, passphrase }: { readonly name: string; readonly passphrase: string },
): Promise<void> {
  const bundle = {
    assay: 1,
    records: records.filter(
      (one) => one.kind === 'gateway' && (one.body as { readonly name?: unknown }).name === name,
    ),
    ...(sealed !== undefined && { sealed }),
  };
  await write('POST', '/import', { bundle, apply: true, ...(sealed !== undefined && { passphrase }) });
  await client.invalidateQueries();
}
