import type { Finding } from './finding.ts';
import { type PolicyRule, getRuleName } from './policy/rule.ts';
import { formatStop, formatStopTarget, type Stop } from './stops.ts';
import { LOCAL_USER } from './subject.ts';
import { matchesGlob } from './tool-filter.ts';

export interface PolicyFacts {
  /** The rules of the config file. */
  readonly rules: readonly PolicyRule[];
  /** Whether clients may come without a token. */
  readonly isOpen: boolean;
}

/** Reports rules that a client evades by sending no token. */
export function checkPolicy({ rules, isOpen }: PolicyFacts): readonly Finding[] {
  if (!isOpen) return [];
  const evaded = rules.flatMap((rule, index) =>
    isEvaded(rule) ? [JSON.stringify(getRuleName(rule, index))] : [],
  );
  if (evaded.length === 0) return [];
  return [
    {
      check: 'config',
      level: 'warning',
      about: 'policy',
      message: `Clients may call without a token, so whoever holds one evades these rules by not sending it: ${evaded.join(', ')}.`,
      remedy: `Set "mcp.access" to "token", or add "${LOCAL_USER.subject}" to the tokens of these rules.`,
    },
  ];
}

export interface NoticeFacts {
  readonly setting: string;
  readonly kind: 'webhook' | 'command';
  /** The origin of the URL, or the program. */
  readonly target: string;
  /** Whether the program could be run. */
  readonly isFound: boolean;
  readonly hasPublicUrl: boolean;
}

/** Reports notices that would not arrive, or without a link that others can open. */
export function checkNotices(facts: readonly NoticeFacts[]): readonly Finding[] {
  return facts.flatMap(({ setting, kind, target, isFound, hasPublicUrl }): readonly Finding[] => [
    ...(kind === 'webhook' || isFound
      ? []
      : [
          {
            check: 'config',
            level: 'problem',
            about: setting,
            message: `The program ${JSON.stringify(target)} was not found, or may not be executed.`,
            remedy: 'Write its absolute path, and make it executable for the user who runs Assay.',
          } as const,
        ]),
    ...(hasPublicUrl
      ? []
      : [
          {
            check: 'config',
            level: 'warning',
            about: setting,
            message:
              'auth.publicUrl is not set, so that links in notices lead to the address on which Assay listens.',
            remedy: 'Set "auth.publicUrl" to the URL at which browsers reach Assay.',
          } as const,
        ]),
  ]);
}

/** Reports what operators have stopped: whoever looks for a fault should see it first. */
export function checkStops(stops: readonly Stop[]): readonly Finding[] {
  return stops.map((stop) => ({
    check: 'config',
    level: 'warning',
    about: formatStopTarget(stop.target),
    message: formatStop(stop),
    remedy: `Run \`assay enable ${stop.target.kind === 'all_calls' ? '--all-calls' : formatStopTarget(stop.target)}\`, which shows what it allows again.`,
  }));
}

/** A rule that allows grants nothing to a client without a token. */
function isEvaded({ effect, token }: PolicyRule): boolean {
  return effect !== 'allow' && token?.some((pattern) => matchesGlob(pattern, LOCAL_USER.subject)) === false;
}
