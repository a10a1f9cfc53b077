// What three replicas must hold under faults: a pure function of the calls, the record of the servers and the counts.
import { type CallRecord, textOfCall } from './calls.ts';

export interface ReplicaFaults {
  /** Clients that never got connected. */
  readonly unconnected: number;
  /** Clients whose session was gone. */
  readonly restarted: number;
  /** Connected clients that received no change of the list after the faults. */
  readonly missedChanges: number;
  /** Replicas that ended on their own. */
  readonly endedAlone: number;
}

export interface Check {
  readonly what: string;
  readonly seen: number;
  readonly holds: boolean;
  /** Some of the calls in question. */
  readonly examples: readonly string[];
}

const MAX_EXAMPLES = 5;

export function checkReplicas(
  calls: readonly CallRecord[],
  executions: ReadonlyMap<string, number>,
  faults: ReplicaFaults,
): readonly Check[] {
  const times = (call: CallRecord): number => executions.get(textOfCall(call)) ?? 0;
  const none = (what: string, isBad: (call: CallRecord) => boolean): Check => {
    const bad = calls.filter(isBad);
    const examples = bad.slice(0, MAX_EXAMPLES).map((call) => format(call, times(call)));
    return { what, seen: bad.length, holds: bad.length === 0, examples };
  };
  const count = (what: string, seen: number): Check => ({ what, seen, holds: seen === 0, examples: [] });
  return [
    count('clients that could not connect', faults.unconnected),
    count('clients that had to be started again', faults.restarted),
    count('clients that received no list change after the faults', faults.missedChanges),
    count('replicas that ended by themselves', faults.endedAlone),
    none('calls lost that may be repeated', ({ outcome, tool }) => outcome.kind === 'lost' && tool.mayRepeat),
    none('other calls lost', ({ outcome, tool }) => outcome.kind === 'lost' && !tool.mayRepeat),
    none('calls of unknown effect that ended by the client’s time limit', ({ outcome, isAnswerLost }) => {
      return outcome.kind === 'effect_unknown' && outcome.reportedBy === 'nobody' && !isAnswerLost;
    }),
    none('attempts without any answer', ({ timeouts, isAnswerLost }) => {
      return timeouts > 0 && !isAnswerLost;
    }),
    none('non-idempotent calls carried out twice', (call) => !call.tool.mayRepeat && times(call) > 1),
    none('calls carried out, but refused as if they were not', (call) => {
      return call.outcome.kind === 'lost' && !call.tool.mayRepeat && times(call) > 0;
    }),
    none('calls answered, but not carried out', (call) => {
      return call.outcome.kind === 'answered' && times(call) === 0;
    }),
    none("answers of another client's call", (call) => {
      return call.outcome.kind === 'answered' && call.outcome.text !== textOfCall(call);
    }),
    none('other errors', ({ outcome }) => outcome.kind === 'wrong'),
  ];
}

/** Each line of a server's record is one execution. */
export function countExecutions(record: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of record.split('\n')) if (line !== '') counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

function format({ client, tool, key, outcome, attempts }: CallRecord, times: number): string {
  return `${client} ${tool.name} ${key}: ${JSON.stringify(outcome)}, ${String(attempts)} attempts, carried out ${String(times)} times`;
}
