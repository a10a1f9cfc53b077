import type { Cause } from './cause.ts';
import { remedyOf } from './cause-remedy.ts';
import { causeText } from './cause-text.ts';
import type { ServerSpec } from './server-spec.ts';
import type { Finding } from './finding.ts';

/** What one tool declares of itself; undefined where it declares nothing. */
export interface DeclaredHints {
  readonly tool: string;
  readonly readOnly: boolean | undefined;
  readonly destructive: boolean | undefined;
}

/** What a server made of a client that offers it roots, sampling and elicitation. */
export interface OfferFacts {
  /** Methods that it requested of its client right after the handshake. */
  readonly asked: readonly string[];
  /** Tools that it lists only to such a client. */
  readonly moreTools: readonly string[];
}

/** Something that the log said of a server while it started. */
export interface ServerWarning {
  /** As the log has it; undefined where it has none. */
  readonly code: string | undefined;
  /** A phrase. */
  readonly text: string;
}

/** How a server did when it was really started. What it said itself is without secrets. */
export interface ServerFacts {
  readonly name: string;
  /** Whether each client has a process or session of it for itself, so that it can be asked. */
  readonly isolation: ServerSpec['isolation'];
  readonly condition:
    | {
        readonly kind: 'up';
        readonly era: string;
        readonly revision: string;
        readonly stoodAfterMs: number;
        readonly tools: readonly DeclaredHints[];
        /** Why lists of it could not be read. */
        readonly listFaults: readonly Cause[];
        /** Undefined where that was not tried: a modern server is offered nothing at a handshake. */
        readonly offered: OfferFacts | undefined;
      }
    | {
        readonly kind: 'down';
        readonly cause: Cause;
        /** The last lines of its stderr. */
        readonly lastWords: readonly string[];
      };
  /** What Assay had to pass over while it started. */
  readonly warnings: readonly ServerWarning[];
}

/**
 * Which servers stand, and since when and in which revision; of the others the cause. `known`: servers of which another
 * check has told already why they cannot start.
 */
export function judgeServers(all: readonly ServerFacts[], known: ReadonlySet<string>): readonly Finding[] {
  return all.flatMap((facts) => {
    const { name, warnings } = facts;
    const found = known.has(name) && facts.condition.kind === 'down' ? [] : [judgeCondition(facts)];
    return [...found, ...warnings.map((warning) => warned(name, warning))];
  });
}

function judgeCondition({ name, condition }: ServerFacts): Finding {
  if (condition.kind === 'up') {
    const { era, revision, stoodAfterMs, tools, listFaults } = condition;
    const [first] = listFaults;
    if (first !== undefined)
      return {
        check: 'servers',
        level: 'problem',
        about: name,
        code: first.code,
        says: `It stands and speaks ${revision} (${era}), but not everything that it has could be listed: ${listFaults.map(causeText).join('; ')}.`,
        remedy: remedyOf(first.code),
      };
    const count = tools.length === 1 ? '1 tool' : `${tools.length} tools`;
    return {
      check: 'servers',
      level: 'ok',
      about: name,
      says: `It stands after ${stoodAfterMs} ms, speaks ${revision} (${era}) and lists ${count}.`,
    };
  }
  const { cause, lastWords } = condition;
  const said = lastWords.length === 0 ? '' : ` Its last words: ${lastWords.join(' / ')}`;
  return {
    check: 'servers',
    level: 'problem',
    about: name,
    code: cause.code,
    says: `It does not stand, so its tools are missing: ${causeText(cause)}.${said}`,
    remedy: remedyOf(cause.code),
  };
}

function warned(about: string, { code, text }: ServerWarning): Finding {
  return {
    check: 'servers',
    level: 'warning',
    about,
    ...(code !== undefined && { code }),
    says: `At its start: ${text}.`,
    remedy:
      code === 'MESSAGE_INVALID'
        ? 'Have it write its log to stderr: stdout of a server belongs to messages alone.'
        : 'Tell the author of the server.',
  };
}
