import { useSyncExternalStore } from 'react';
import type { VerificationEvents, VerificationResult } from '../../../gateway/src/api/verification.ts';
import { ApiError, post, formatError } from './api.ts';
import { readEvents } from './event-stream.ts';

/** The last verification started in this page. It continues while other parts of the page are shown. */
export type Verification =
  | { readonly state: 'running'; readonly server: string; readonly progress?: VerificationEvents['progress'] }
  | { readonly state: 'done'; readonly server: string; readonly result: VerificationResult }
  | { readonly state: 'failed'; readonly server: string; readonly why: string };

let current: Verification | undefined;
let cancellation = new AbortController();
const listeners = new Set<() => void>();

function set(next: Verification | undefined): void {
  current = next;
  for (const listener of listeners) listener();
}

export function useVerification(): Verification | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => current,
  );
}

/** Cancels the verification and discards its observations. */
export function cancelVerification(): void {
  cancellation.abort();
  set(undefined);
}

const LOST = 'The connection to Assay was lost. The verification was cancelled.';

/** `isRecorded`: tools are also called with the arguments of recorded calls. */
export async function startVerification(
  { id, name: server }: { readonly id: string; readonly name: string },
  { isRecorded }: { readonly isRecorded: boolean },
): Promise<void> {
  const { signal } = (cancellation = new AbortController());
  set({ state: 'running', server });
  let end: Verification = { state: 'failed', server, why: LOST };
  try {
    const path = `/gateways/${encodeURIComponent(id)}/verify?recorded=${isRecorded}`;
    const { body } = await post(path, {}, signal);
    if (body !== null)
      await readEvents(body, (name, text) => {
        const data: unknown = JSON.parse(text);
        // Guaranteed by the contract.
        if (name === 'progress')
          set({ state: 'running', server, progress: data as VerificationEvents['progress'] });
        if (name === 'result') end = { state: 'done', server, result: data as VerificationResult };
        if (name === 'refused')
          end = { state: 'failed', server, why: (data as VerificationEvents['refused']).detail };
      });
  } catch (error) {
    if (error instanceof ApiError) end = { state: 'failed', server, why: formatError(error) };
  }
  if (!signal.aborted) set(end);
}
