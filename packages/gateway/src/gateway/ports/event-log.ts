import type { FinishedCall } from '../../core/activity/call-entry.ts';
import type { AccessEvent, ChangeEvent } from '../../core/event-line.ts';

/** The events for a SIEM. Whoever adds one never waits; what does not fit is dropped and counted. */
export interface EventLog {
  access(request: AccessEvent): void;
  change(change: ChangeEvent, atMs: number): void;
  decision(call: FinishedCall): void;
}
