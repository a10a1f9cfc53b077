import { type DeclaredHints, DEFAULTS, type Hint, HINTS, isCautious } from '@assay-mcp/kit/hint';
import type {
  EffectKind,
  Evidence,
  ToolCoverage,
  ToolReport,
  UnobservedReason,
  Verdict,
} from '@assay-mcp/kit/verification/verdict';
import { truncateText } from '@assay-mcp/kit/shorten';
import type { Mechanism, Observation } from '@assay-mcp/sandbox/observation';
import { collectEffects } from './effects.ts';
import { findSignals } from './signals.ts';
import { type CallEffect, isSuccess, type Trial, type Trials } from './trial.ts';

export interface ToolFacts {
  readonly name: string;
  readonly digest: string;
  readonly declared: DeclaredHints;
}

/** Compares the effects of a tool's trials with its hints. */
export function judgeTool(facts: ToolFacts, given: Trials): ToolReport {
  const { effects, excused } = attributed(given);
  const coverage = coverageOf(given.trials);
  const verdictOf = (hint: Hint): Verdict => judgeHint(hint, { facts, given, effects, excused, coverage });
  const verdicts = Object.fromEntries(HINTS.map((hint) => [hint, verdictOf(hint)])) as Record<Hint, Verdict>; // every hint was visited
  const failure = coverage.successfulCalls > 0 ? undefined : findFailure(given);
  return {
    ...facts,
    verdicts,
    signals: findSignals(given, { effects, declared: facts.declared, verdicts }),
    coverage,
    ...(failure !== undefined && { failure }),
  };
}

/** What the other tools of a server showed, against a hint. */
export interface ChangeInMemory {
  readonly hint: Hint;
  readonly evidence: readonly Evidence[];
}

/** Adds what other tools showed differently after calls of a tool, although a hint of it says otherwise. */
export function withChangesInMemory(report: ToolReport, changes: readonly ChangeInMemory[] = []): ToolReport {
  if (changes.length === 0) return report;
  const verdicts = { ...report.verdicts };
  for (const { hint, evidence } of changes) {
    const former = verdicts[hint];
    const known = former.kind === 'contradicted' ? former.evidence : [];
    verdicts[hint] = { kind: 'contradicted', evidence: [...known, ...evidence] };
  }
  const signals = report.signals.filter(({ kind }) => kind !== 'in_process_state');
  return { ...report, verdicts, signals: [{ kind: 'in_process_state', isJudged: true }, ...signals] };
}

interface Attribution {
  readonly effects: readonly CallEffect[];
  /** Effects during calls that also occur without one. They are no evidence, and hide what the call itself did. */
  readonly excused: readonly CallEffect[];
}

function attributed({ trials, background, seed }: Trials): Attribution {
  const effects: CallEffect[] = [];
  const excused: CallEffect[] = [];
  for (const trial of trials) {
    const control = new Set(collectEffects(trial.control, { seed }).map(({ target }) => target));
    const pending = new Set(trial.pending);
    const ending = endingOf(trial, seed);
    effects.push(...ending.effects);
    excused.push(...ending.excused);
    for (const effect of effectsIn(trial, seed)) {
      const { target } = effect;
      const isExcused = background.targets.has(target) || control.has(target) || pending.delete(target);
      (isExcused ? excused : effects).push(effect);
    }
  }
  return { effects, excused };
}

function effectsIn(trial: Trial, seed: string): readonly CallEffect[] {
  const during = trial.calls.flatMap(({ number, observation }) =>
    collectEffects(observation, { seed }).map((effect) => ({
      ...{ ...effect, trial, call: number },
      ...{ isLate: false, isAtEnd: false },
    })),
  );
  const call = trial.calls.at(-1)?.number ?? 1;
  const late = collectEffects(trial.late, { seed }).map((effect) => ({
    ...{ ...effect, trial, call },
    ...{ isLate: true, isAtEnd: false },
  }));
  return [...during, ...late];
}

/**
 * Effects at the end of a server. What it does in the same way without a call is left out; what differs is excused,
 * since the call may have contributed to it.
 */
function endingOf(trial: Trial, seed: string): Attribution {
  const { end, endWithoutCall: control } = trial;
  if (end === undefined) return { effects: [], excused: [] };
  const call = trial.calls.at(-1)?.number ?? 1;
  const found = collectEffects(end, { seed }).map((effect) => ({
    ...{ ...effect, trial, call },
    ...{ isLate: true, isAtEnd: true },
  }));
  if (control === undefined) return { effects: [], excused: found };
  const usual = collectEffects(control, { seed });
  const others = found.filter(
    ({ kind, target }) =>
      !usual.some((one) => one.kind === kind && one.target === target) ||
      resultAt(end, target) !== resultAt(control, target),
  );
  const targets = new Set(usual.map(({ target }) => target));
  return {
    effects: others.filter(({ target }) => !targets.has(target)),
    excused: others.filter(({ target }) => targets.has(target)),
  };
}

/** Digest of a changed file. */
function resultAt({ changes }: Observation, target: string): string | undefined {
  const after = changes.find(({ path }) => path === target)?.after;
  return after?.type === 'file' ? after.digest : after?.type;
}

function coverageOf(trials: readonly Trial[]): ToolCoverage {
  const successful = trials.filter(({ calls }) => calls.some(({ answer }) => isSuccess(answer)));
  const calls = trials.flatMap((trial) => trial.calls);
  return {
    calls: calls.length,
    successfulCalls: calls.filter(({ answer }) => isSuccess(answer)).length,
    shapes: new Set(successful.map(({ shape }) => shape)).size,
    origins: [...new Set(successful.map(({ origin }) => origin))],
  };
}

const MAX_FAILURE = 500;

/** The most frequent answer to its calls, of equally frequent ones the last: later arguments are mostly less likely. */
function findFailure({ sought = [], trials }: Trials): string | undefined {
  const tried = trials.flatMap(({ calls }) => calls.slice(0, 1).map(({ answer }) => answer));
  const texts = [...sought, ...tried].filter((answer) => !isSuccess(answer)).map(({ text }) => text);
  const count = (text: string): number => texts.filter((one) => one === text).length;
  const best = Math.max(...texts.map(count));
  const text = texts.findLast((one) => count(one) === best);
  return text === undefined ? undefined : truncateText(text, MAX_FAILURE);
}

interface Judged {
  readonly facts: ToolFacts;
  readonly given: Trials;
  readonly effects: readonly CallEffect[];
  readonly excused: readonly CallEffect[];
  readonly coverage: ToolCoverage;
}

function judgeHint(hint: Hint, judged: Judged): Verdict {
  const { declared } = judged.facts;
  const value = declared[hint] ?? DEFAULTS[hint];
  if (declared[hint] === undefined && declared.readOnlyHint === true && isAboutWrites(hint))
    return { kind: 'not_applicable' };
  const against = judged.effects.filter((effect) => isAgainst(hint, effect));
  if (isCautious(hint, value))
    return against.length > 0
      ? { kind: 'supported', evidence: evidenceOf(against) }
      : notExercised(hint, judged);
  if (against.length > 0) return { kind: 'contradicted', evidence: evidenceOf(against) };
  return withoutContradiction(hint, judged);
}

function isAboutWrites(hint: Hint): boolean {
  return hint === 'destructiveHint' || hint === 'idempotentHint';
}

/** Kinds of effects that say nothing about hints on writes. */
const NOT_EVIDENCE: ReadonlySet<EffectKind> = new Set<EffectKind>([
  'network',
  'rewritten',
  'service',
  'hidden',
]);

/** Whether an effect contradicts the safe value of the hint and supports the cautious one. */
function isAgainst(hint: Hint, effect: CallEffect): boolean {
  if (hint === 'openWorldHint') return effect.kind === 'network';
  if (NOT_EVIDENCE.has(effect.kind) || effect.noise !== undefined) return false;
  if (hint === 'readOnlyHint') return true;
  if (hint === 'destructiveHint')
    return !effect.isUnclear && ['deleted', 'overwritten', 'moved'].includes(effect.kind);
  return (
    effect.call > 1 &&
    !effect.isLate &&
    effect.kind !== 'transient' &&
    effect.isTimestamps === false &&
    firstSucceeded(effect.trial)
  );
}

function firstSucceeded({ calls: [first] }: Trial): boolean {
  return first !== undefined && isSuccess(first.answer);
}

function notExercised(hint: Hint, judged: Judged): Verdict {
  const reason = obstacle(hint, judged);
  return reason === undefined ? { kind: 'not_exercised' } : { kind: 'unobserved', reason };
}

function withoutContradiction(hint: Hint, judged: Judged): Verdict {
  const untested = isExercised(hint, judged) ? undefined : 'no_effect';
  const reason = obstacle(hint, judged) ?? unclear(hint, judged) ?? untested;
  if (reason !== undefined) return { kind: 'unobserved', reason };
  const { successfulCalls: calls, shapes } = judged.coverage;
  return { kind: 'consistent', calls, shapes };
}

/** Whether an effect of the tool could have contradicted a promise about its changes. */
function isExercised(hint: Hint, { effects }: Judged): boolean {
  return (
    !isAboutWrites(hint) ||
    effects.some(
      ({ kind, noise, trial }) =>
        !NOT_EVIDENCE.has(kind) &&
        noise === undefined &&
        (hint === 'destructiveHint' || (firstSucceeded(trial) && trial.calls.length > 1)),
    )
  );
}

/** Why the absence of effects says nothing. */
function obstacle(hint: Hint, { given, coverage, excused }: Judged): UnobservedReason | undefined {
  if (given.trials.length === 0) return given.stopped ?? 'no_arguments';
  if (coverage.successfulCalls === 0) return given.stopped ?? 'no_successful_call';
  const repeated = given.trials.some((trial) => firstSucceeded(trial) && trial.calls.length > 1);
  if (hint === 'idempotentHint' && !repeated) return 'no_successful_call';
  // Without the trace, DNS queries and HTTP requests are seen, but no other connections.
  const needed: Mechanism = hint === 'openWorldHint' ? 'syscall_trace' : 'overlay';
  if (!given.mechanisms.includes(needed)) return 'mechanism_missing';
  if (given.trials.some((trial) => isIncomplete(trial))) return 'incomplete';
  if (excused.some((effect) => isAgainst(hint, effect))) return 'background_change';
  return isAboutWrites(hint) ? undefined : given.unwatched;
}

function isIncomplete({ calls, late, end }: Trial): boolean {
  const observations = [...calls.map(({ observation }) => observation), late, ...(end ? [end] : [])];
  return observations.some(({ incomplete }) => incomplete.length > 0);
}

/** Set if it is unknown whether an effect contradicts the hint. */
function unclear(hint: Hint, { given, effects, excused }: Judged): UnobservedReason | undefined {
  const all = [...effects, ...excused].filter(({ noise }) => noise === undefined);
  if (all.some(({ kind }) => kind === 'service')) return 'local_service';
  if (all.some(({ kind }) => kind === 'hidden')) return 'hidden_target';
  const isMapped = given.trials.some(({ calls }) => calls.some((call) => call.observation.mapped.length > 0));
  if (hint === 'readOnlyHint')
    return isMapped || all.some(({ kind }) => kind === 'rewritten') ? 'unseen_change' : undefined;
  if (!isAboutWrites(hint)) return undefined;
  const isUnclear = all.some(
    ({ isUnclear, isTimestamps, isLate, kind }) =>
      kind !== 'network' && (hint === 'destructiveHint' ? isUnclear : isTimestamps === undefined || isLate),
  );
  return isUnclear ? 'unclear_change' : undefined;
}

const MAX_EVIDENCE = 20;

/** The first effects, one of each kind per target. */
function evidenceOf(effects: readonly CallEffect[]): readonly Evidence[] {
  const distinct = new Map<string, Evidence>();
  for (const { kind, message, target, call, atMs, isLate, isAtEnd, trial } of effects) {
    const key = `${kind} ${target}`;
    if (distinct.has(key) || distinct.size >= MAX_EVIDENCE) continue;
    const when = isAtEnd
      ? `${message} when its server ended`
      : isLate
        ? `${message} after it had answered`
        : message;
    distinct.set(key, { effect: kind, message: when, call, args: trial.args, atMs, target });
  }
  return [...distinct.values()];
}
