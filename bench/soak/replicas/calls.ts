// One call as its user sees it: repeated while that is safe, until it has an answer or its outcome is known.
import type { Failure } from './failure.ts';

export interface CountedTool {
  /** Public name at the gateway. */
  readonly name: string;
  /** What the server writes before the key in its record and its answer. */
  readonly label: string;
  /** Known to be read-only or idempotent, by a trusted hint or an override. */
  readonly mayRepeat: boolean;
  readonly asks: boolean;
}

export const TOOLS: readonly CountedTool[] = ['pipe', 'web'].flatMap((server) => [
  { name: `${server}_look`, label: 'look', mayRepeat: true, asks: false },
  { name: `${server}_put`, label: 'put', mayRepeat: true, asks: false },
  { name: `${server}_merge`, label: 'merge', mayRepeat: true, asks: false },
  { name: `${server}_add`, label: 'add', mayRepeat: false, asks: false },
  // A stdio server that clients share cannot ask one of them.
  ...(server === 'web' ? [{ name: 'web_ask', label: 'ask', mayRepeat: false, asks: true }] : []),
]);

export type Outcome =
  | { readonly kind: 'answered'; readonly text: string }
  /** Not repeated, as the tool is not known to be idempotent; `reportedBy` is how the client knows. */
  | { readonly kind: 'effect_unknown'; readonly reportedBy: 'gateway' | 'connection' | 'nobody' }
  /** Its time was over before it had an answer. */
  | { readonly kind: 'lost'; readonly last: string }
  | { readonly kind: 'wrong'; readonly text: string };

export interface CallRecord {
  readonly client: string;
  readonly tool: CountedTool;
  readonly key: string;
  readonly outcome: Outcome;
  readonly attempts: number;
  /** Attempts without any answer within the client's time limit. */
  readonly timeouts: number;
  /** The SDK reported meanwhile that the client's answer to a question did not arrive: its replica was killed. */
  readonly isAnswerLost: boolean;
  readonly tookMs: number;
}

/** What the record of the server has, and the answer too. */
export function textOfCall({ tool, key }: Pick<CallRecord, 'tool' | 'key'>): string {
  return tool.asks ? `ask ${key} answer ${key}` : `${tool.label} ${key}`;
}

/** What to do after a failed attempt: repeat it, or this outcome. */
export function judgeFailure(failure: Failure, tool: CountedTool): Outcome | 'repeat' {
  switch (failure.kind) {
    case 'refused':
    case 'session_lost':
      return 'repeat';
    case 'unknown_effect':
      return tool.mayRepeat ? 'repeat' : { kind: 'effect_unknown', reportedBy: 'gateway' };
    case 'cut':
      return tool.mayRepeat ? 'repeat' : { kind: 'effect_unknown', reportedBy: 'connection' };
    case 'timed_out':
      return tool.mayRepeat ? 'repeat' : { kind: 'effect_unknown', reportedBy: 'nobody' };
    case 'other':
      return { kind: 'wrong', text: failure.text };
  }
}
