import { randomUUID } from 'node:crypto';
import { maskArguments } from '../adapters/telemetry/shown-arguments.ts';
import type { Settings } from '../core/settings.ts';
import type { CallLog } from '../gateway/ports/call-log.ts';
import type { EventLog } from '../gateway/ports/event-log.ts';
import { CallRecorder } from '../gateway/services/activity/call-recorder.ts';
import { type Environment, hasHomeStore } from './environment.ts';

interface CallLogOptions {
  /** Whether the process is long-running. */
  readonly isRecorded: boolean;
  readonly events: EventLog | undefined;
}

/** Takes the calls of this process that have ended. Undefined if they are neither recorded nor reported as events. */
export function openCallLog(
  environment: Environment,
  settings: Settings,
  { isRecorded, events }: CallLogOptions,
): CallLog | undefined {
  const recorder = openRecorder(environment, settings);
  if (isRecorded) recorder?.start();
  if (events === undefined) return recorder;
  return {
    arguments: recorder?.arguments ?? 'none',
    add: (call) => {
      recorder?.add(call);
      events.decision(call);
    },
  };
}

/** The call record of this process, closed before its store. Undefined if calls are not recorded. */
function openRecorder(environment: Environment, settings: Settings): CallRecorder | undefined {
  if (!settings['activity.calls']) return undefined;
  const { store, telemetry, log, cleanup } = environment;
  const recorder = new CallRecorder({
    chain: randomUUID(),
    settings,
    open: async () => (store.isOpen || hasHomeStore(environment) ? store.open() : undefined),
    shown: (text) => maskArguments(text, telemetry.mask),
    log,
    onLost: (calls) => telemetry.meter?.unrecorded(calls),
    nowMs: () => Date.now(),
  });
  cleanup.defer(() => recorder.close());
  return recorder;
}
