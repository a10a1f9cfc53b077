import { randomUUID } from 'node:crypto';
import { maskArguments } from '../adapters/telemetry/shown-arguments.ts';
import type { Settings } from '../core/settings.ts';
import { CallRecorder } from '../gateway/services/activity/call-recorder.ts';
import { type Environment, hasHomeStore } from './environment.ts';

/** The call record of this process, closed before its store. Undefined if calls are not recorded. */
export function openCallLog(environment: Environment, settings: Settings): CallRecorder | undefined {
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
