import { type DeclaredHints, type Hint, HINTS, isCautious } from '@assay-mcp/kit/hint';
import type { Signal, Verdict } from '@assay-mcp/kit/verification/verdict';
import type { NetworkAddress, TracedEvent } from '@assay-mcp/sandbox/observation';
import { formatNetworkAddress } from './contacts.ts';
import { type CallEffect, isSuccess, type Trial, type Trials } from './trial.ts';

interface Judgement {
  readonly effects: readonly CallEffect[];
  readonly declared: DeclaredHints;
  readonly verdicts: Readonly<Record<Hint, Verdict>>;
}

const MAX_LISTED = 10;

/** Findings about a tool that contradict none of its hints. */
export function findSignals(
  { trials }: Trials,
  { effects, declared, verdicts }: Judgement,
): readonly Signal[] {
  const events = trials.flatMap(({ calls, late, end }) => [
    ...calls.flatMap(({ observation }) => observation.events),
    ...late.events,
    ...(end?.events ?? []),
  ]);
  const late = effects.some(({ isLate, noise }) => isLate && noise === undefined);
  const responses = responseSignals(trials, effects);
  return [
    ...responses,
    ...noiseSignals(effects),
    ...(late ? [{ kind: 'late_change' } as const] : []),
    ...eventSignals(events),
    // The tool may change state in its process.
    ...(responses.some(({ kind }) => kind === 'in_process_state') ? [] : overDeclared(declared, verdicts)),
  ];
}

/** The first trial whose identical calls were answered differently although they changed nothing. */
function responseSignals(trials: readonly Trial[], effects: readonly CallEffect[]): readonly Signal[] {
  const kinds = trials.flatMap((trial): readonly Signal[] => {
    const hasChanged = effects.some((effect) => effect.trial === trial && effect.kind !== 'network');
    const { replay } = trial;
    if (hasChanged || replay === undefined || !answersDiffer(trial)) return [];
    const first = digestOf(trial, 0);
    return replay.kind === 'result' && replay.digest === first
      ? [{ kind: 'in_process_state', isJudged: false }]
      : [{ kind: 'nondeterministic' }];
  });
  return kinds.slice(0, 1);
}

/** Whether identical successful calls were answered differently. */
export function answersDiffer(trial: Pick<Trial, 'calls'>): boolean {
  const digests = trial.calls.flatMap(({ answer }) =>
    isSuccess(answer) && answer.kind === 'result' ? [answer.digest] : [],
  );
  return new Set(digests).size > 1;
}

function digestOf({ calls }: Trial, at: number): string | undefined {
  const answer = calls[at]?.answer;
  return answer?.kind === 'result' ? answer.digest : undefined;
}

function noiseSignals(effects: readonly CallEffect[]): readonly Signal[] {
  const noisy = effects.filter(({ noise }) => noise !== undefined);
  return [...Map.groupBy(noisy, ({ noise }) => noise ?? '')].map(([noise, some]) => ({
    ...{ kind: 'noise' as const, noise, count: some.length },
    paths: distinct(some.map(({ target }) => target)),
  }));
}

function eventSignals(events: readonly TracedEvent[]): readonly Signal[] {
  const local: string[] = [];
  const programs: string[] = [];
  const secrets = new Map<boolean, string[]>();
  const failed: string[] = [];
  const privileged: string[] = [];
  for (const event of events) {
    if (event.kind === 'privileged') privileged.push(event.call);
    else if (event.kind === 'execute' && event.error === undefined) programs.push(event.path);
    else if (event.kind === 'read_secret')
      secrets.set(event.isCanary, [...(secrets.get(event.isCanary) ?? []), event.path]);
    else if (event.kind === 'connect' && isWithinMachine(event.address))
      local.push(formatNetworkAddress(event.address));
    else if ('path' in event && event.error !== undefined && DENIED.has(event.error))
      failed.push(`${event.call} ${event.path}: ${event.error}`);
  }
  return [
    ...(local.length > 0 ? [{ kind: 'local_connection' as const, targets: distinct(local) }] : []),
    ...(programs.length > 0 ? [{ kind: 'program' as const, paths: distinct(programs) }] : []),
    ...[...secrets].map(([isCanary, paths]) => ({
      kind: 'secret_read' as const,
      paths: distinct(paths),
      isCanary,
    })),
    ...(failed.length > 0
      ? [{ kind: 'failed_attempt' as const, count: failed.length, message: distinct(failed) }]
      : []),
    ...(privileged.length > 0 ? [{ kind: 'privileged' as const, calls: distinct(privileged) }] : []),
  ];
}

const DNS_PORT = 53;

/** The sandbox's DNS resolver is on loopback; a query to it is a network request. */
function isWithinMachine(address: NetworkAddress): boolean {
  return address.family === 'unix' || (address.isLocal && address.port !== DNS_PORT);
}

/** A denied write is worth reporting; a missing path is not. */
const DENIED: ReadonlySet<string> = new Set(['EROFS', 'EACCES', 'EPERM', 'EOVERFLOW']);

/**
 * A declared cautious value that no effect has supported. Only a suggestion, because calls with other arguments may
 * support it.
 */
function overDeclared(declared: DeclaredHints, verdicts: Readonly<Record<Hint, Verdict>>): readonly Signal[] {
  return HINTS.filter((hint) => {
    const value = declared[hint];
    return value !== undefined && isCautious(hint, value) && verdicts[hint].kind === 'not_exercised';
  }).map((hint) => ({ kind: 'over_declared', hint }));
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].slice(0, MAX_LISTED);
}
