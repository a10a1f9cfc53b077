import type { FetchedPackage } from './report.ts';
import type { Signal, UnobservedReason, Verdict } from './verdict.ts';

export const UNOBSERVED_TEXTS: Readonly<Record<UnobservedReason, string>> = {
  skipped: 'the fixtures file says never to call it',
  no_arguments: 'no arguments could be generated',
  no_successful_call: 'no call succeeded',
  time_limit: 'the time limit was reached',
  server_failed: 'the server did not start again',
  mechanism_missing: 'this machine lacks a mechanism to observe it',
  incomplete: 'more happened than can be recorded',
  unclear_change: 'a change could not be classified',
  unseen_change: 'files were written, but no change is visible',
  local_service: 'it tried to reach a service of this machine, which a sandbox hides',
  hidden_target: 'it tried to act on processes, shared memory or the system, which a sandbox hides',
  no_effect: 'no call changed anything',
  unattributed_change:
    'something changed after several tools had been called, but not after any of them alone',
  background_change: 'the server does the same without a call, too',
};

/** Such as `CONSISTENT (6 calls, 2 shapes)`. */
export function formatVerdict(verdict: Verdict): string {
  switch (verdict.kind) {
    case 'contradicted':
      return `CONTRADICTED (${verdict.evidence[0]?.message ?? ''})`;
    case 'consistent':
      return `CONSISTENT (${amount(verdict.calls, 'call')}, ${amount(verdict.shapes, 'shape')} of arguments)`;
    case 'supported':
      return `supported (${verdict.evidence[0]?.message ?? ''})`;
    case 'unobserved':
      return `UNOBSERVED (${UNOBSERVED_TEXTS[verdict.reason]})`;
    case 'not_exercised':
      return 'not exercised';
    case 'not_applicable':
      return 'not applicable';
  }
}

export function formatFetched({ name, version, registry, skippedScripts }: FetchedPackage): string {
  const skipped =
    skippedScripts.length === 0 ? '' : ` The install scripts of ${skippedScripts.join(', ')} were not run.`;
  return `Fetched ${name}@${version} from ${registry}.${skipped}`;
}

export function formatHosts(hosts: readonly string[]): string {
  return `Outside tool calls, the server tried to reach ${hosts.join(', ')}; the sandbox blocked it.`;
}

export function formatSignal(signal: Signal): string {
  switch (signal.kind) {
    case 'in_process_state':
      return signal.isJudged
        ? 'other tools of the server return different data after its calls'
        : 'repeated calls answer differently until the process restarts: it keeps state in memory, which is not judged';
    case 'nondeterministic':
      return 'equal calls answer differently, also in a new process (clock or randomness)';
    case 'noise':
      return `${amount(signal.count, 'change')} of class ${signal.noise.replace('_', ' ')}: ${signal.paths.join(', ')}`;
    case 'local_connection':
      return `connected within the machine: ${signal.targets.join(', ')}`;
    case 'secret_read':
      return `read ${signal.isCanary ? 'planted secrets' : 'places of secrets'}: ${signal.paths.join(', ')}`;
    case 'program':
      return `started ${signal.paths.join(', ')}`;
    case 'failed_attempt':
      return `${amount(signal.count, 'denied attempt')}: ${signal.message.join(', ')}`;
    case 'privileged':
      return `tried ${signal.calls.join(', ')}`;
    case 'late_change':
      return 'changes state after it has answered';
    case 'over_declared':
      return `${signal.hint} may promise less than the tool keeps (suggestion only)`;
  }
}

function amount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
