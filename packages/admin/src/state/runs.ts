import type { Approval } from '../../../gateway/src/api/approval.ts';
import type { RunEvent, RunEvents } from '../../../gateway/src/api/run.ts';
import { ApiError, post } from './api.ts';
import { readEvents } from './event-stream.ts';

export type RunOutcome =
  | { readonly kind: 'result'; readonly result: RunEvents['result'] }
  | { readonly kind: 'error'; readonly error: RunEvents['error'] }
  | { readonly kind: 'refused'; readonly title: string; readonly detail: string }
  | { readonly kind: 'cancelled' };

export interface Run {
  readonly state: 'idle' | 'running' | 'ended';
  readonly startedMs: number;
  readonly endedMs: number;
  readonly progress?: RunEvents['progress'] | undefined;
  readonly log: readonly RunEvents['log'][];
  readonly dropped: number;
  /** The approval that the call waits for, from the user of this page. */
  readonly question?: Approval | undefined;
  readonly outcome?: RunOutcome | undefined;
}

export const NO_RUN: Run = { state: 'idle', startedMs: 0, endedMs: 0, log: [], dropped: 0 };

/** Maximum number of log lines kept: a server may send them without end. */
const MAX_LOG = 500;

export type RunChange =
  | { readonly name: 'started'; readonly atMs: number }
  | { readonly name: 'answered' }
  | { readonly name: 'ended'; readonly atMs: number; readonly outcome: RunOutcome }
  | RunEvent;

export function applyRunChange(run: Run, change: RunChange): Run {
  switch (change.name) {
    case 'started':
      return { ...NO_RUN, state: 'running', startedMs: change.atMs };
    case 'answered':
      return { ...run, question: undefined };
    case 'approval':
      return { ...run, question: change.data };
    case 'progress':
      return { ...run, progress: change.data };
    case 'log':
      return { ...run, log: [...run.log, change.data].slice(-MAX_LOG) };
    case 'dropped':
      return { ...run, dropped: change.data.count };
    case 'ended':
      return { ...run, state: 'ended', endedMs: change.atMs, outcome: change.outcome, question: undefined };
    default:
      return run;
  }
}

interface RunRequest {
  readonly id: string;
  readonly args: unknown;
  readonly signal: AbortSignal;
  readonly onEvent: (event: RunEvent) => void;
}

/** Calls a tool. Aborting the signal cancels the call at its server. */
export async function run({ id, args, signal, onEvent }: RunRequest): Promise<RunOutcome> {
  let outcome: RunOutcome | undefined;
  try {
    const response = await post(`/tools/${encodeURIComponent(id)}/run`, { arguments: args }, signal);
    if (response.body !== null)
      await readEvents(response.body, (name, data) => {
        const event = { name, data: JSON.parse(data) as unknown } as RunEvent; // Guaranteed by the contract.
        outcome = outcomeIn(event) ?? outcome;
        if (outcome === undefined) onEvent(event);
      });
  } catch (error) {
    if (signal.aborted) return { kind: 'cancelled' };
    if (error instanceof ApiError) return { kind: 'refused', title: 'Not called', detail: error.message };
  }
  return outcome ?? LOST;
}

const LOST: RunOutcome = {
  kind: 'refused',
  title: 'Connection lost',
  detail:
    'The connection to Assay was lost before the result arrived. The call was cancelled, but may have had an effect; see Activity for the outcome.',
};

function outcomeIn(event: RunEvent): RunOutcome | undefined {
  switch (event.name) {
    case 'result':
      return { kind: 'result', result: event.data };
    case 'error':
      return { kind: 'error', error: event.data };
    case 'refused':
      return { kind: 'refused', title: event.data.title, detail: event.data.detail };
    default:
      return undefined;
  }
}
