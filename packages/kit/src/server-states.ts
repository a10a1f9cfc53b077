export type ServerStateName =
  'idle' | 'starting' | 'up' | 'restarting' | 'backoff' | 'refused' | 'unauthorized' | 'stopped' | 'disabled';

/** `ready`: its tools can be called. `down`: they cannot until it recovers or somebody acts. */
export type ServerLevel = 'ready' | 'pending' | 'down' | 'off';

/**
 * The one word for each state of a server in JSON, REST, the CLI, the pages, logs and metrics, and what it means for
 * operators, in a sentence.
 */
export const SERVER_STATES: Readonly<
  Record<ServerStateName, { readonly level: ServerLevel; readonly meaning: string }>
> = {
  idle: { level: 'ready', meaning: 'Not running, as nothing needs it. Its next call starts it.' },
  starting: { level: 'pending', meaning: 'Being started. It has not answered yet.' },
  up: { level: 'ready', meaning: 'Connected. Its tools can be called.' },
  restarting: { level: 'pending', meaning: 'It ended and is being started again.' },
  backoff: {
    level: 'down',
    meaning: 'It failed several times in a row. Assay tries again once a minute, and when a call needs it.',
  },
  refused: { level: 'down', meaning: 'It cannot start until its cause is mended.' },
  unauthorized: { level: 'down', meaning: 'It needs a sign-in.' },
  stopped: { level: 'off', meaning: 'No gateway is running that would start it.' },
  disabled: { level: 'off', meaning: 'Disabled by an operator. It is kept, but not connected.' },
};

/** In the order of their life. */
export const SERVER_STATE_NAMES: readonly ServerStateName[] = Object.keys(
  SERVER_STATES,
) as readonly ServerStateName[];

export function getServerLevel(state: ServerStateName): ServerLevel {
  return SERVER_STATES[state].level;
}
