import { type Cause, CAUSE_CODES, formatCause, getRemedy } from './cause.ts';
import type { ServerSpec } from './server-spec.ts';
import { quote } from '@assay-mcp/kit/printable';
import { formatCount } from '@assay-mcp/kit/counted';
import { getServerLevel, SERVER_STATES, type ServerStateName } from '@assay-mcp/kit/server-states';
import type { Finding } from './finding.ts';

/** Hints that a tool declares. Undefined if not declared. */
export interface ToolHintFacts {
  readonly tool: string;
  readonly readOnly: boolean | undefined;
  readonly destructive: boolean | undefined;
}

/** A tool that is withheld from clients. */
export interface WithheldFacts {
  readonly tool: string;
  /** A phrase, such as `inputSchema.type is absent`. */
  readonly reason: string;
}

/** How a server reacts to a client that offers roots, sampling and elicitation. */
export interface OfferFacts {
  /** Server requests sent right after the handshake, by method. */
  readonly asked: readonly string[];
  /** Tools listed only to such a client. */
  readonly moreTools: readonly string[];
}

/** What came of starting the twin of a server. */
export interface TwinFacts {
  /** Why it did not start. */
  readonly cause: Cause | undefined;
}

/** A warning logged about a server while it started. */
export interface ServerWarning {
  /** Log code. Undefined if it has none. */
  readonly code: string | undefined;
  /** A phrase. */
  readonly text: string;
}

/** Result of actually starting a server. Text from the server has its secrets masked. */
export interface ServerFacts {
  readonly name: string;
  /** With `session`, each client has its own process or session, so the server can send it requests. */
  readonly isolation: ServerSpec['isolation'];
  readonly condition:
    | {
        readonly kind: 'up';
        readonly era: string;
        readonly revision: string;
        readonly readyAfterMs: number;
        readonly tools: readonly ToolHintFacts[];
        /** Tools that no official client can list. Absent if there are none. */
        readonly withheld?: readonly WithheldFacts[];
        /** Why some of its lists could not be read. */
        readonly listFaults: readonly Cause[];
        /** Undefined if not tried: a modern server is offered nothing in a handshake. */
        readonly offered: OfferFacts | undefined;
        /** Undefined if it has none. */
        readonly twin: TwinFacts | undefined;
      }
    | {
        readonly kind: 'down';
        readonly cause: Cause;
        /** The last lines of its stderr, shown if the cause contains no error from it. */
        readonly lastLines: readonly string[];
      };
  /** Warnings logged while it started. */
  readonly warnings: readonly ServerWarning[];
}

/**
 * Reports which servers are ready, with their startup time and protocol revision, and why the others are not. `known`:
 * servers that failed to start and were already reported by another check.
 */
export function checkServers(all: readonly ServerFacts[], known: ReadonlySet<string>): readonly Finding[] {
  return all.flatMap((facts) => {
    const { name, warnings } = facts;
    const found = known.has(name) && facts.condition.kind === 'down' ? [] : [checkCondition(facts)];
    return [
      ...found,
      ...checkWithheld(facts),
      ...checkTwin(facts),
      ...warnings.map((warning) => warned(name, warning)),
    ];
  });
}

/** A server as the running gateway reports it. */
export interface RunningServerFacts {
  readonly name: string;
  readonly state: ServerStateName;
  /** A phrase. */
  readonly cause?: string;
  /** Of a gateway of another version, it may be unknown here. */
  readonly causeCode?: string;
  readonly tools?: number;
  readonly listFaults?: readonly { readonly cause: string; readonly causeCode: string }[];
}

/** The servers of a running gateway, as it sees them. None is started for it. */
export function checkRunningServers(all: readonly RunningServerFacts[]): readonly Finding[] {
  return all.map(({ name, state, cause, causeCode, tools = 0, listFaults = [] }): Finding => {
    const facts = { check: 'servers', about: name } as const;
    const isFailing = getServerLevel(state) === 'down' || state === 'restarting';
    if (isFailing && cause !== undefined && causeCode !== undefined)
      return {
        ...{ ...facts, level: 'problem', code: causeCode },
        message: `Down, so its tools are missing: ${cause}.`,
        remedy: findRemedy(name, causeCode),
      };
    const [first] = listFaults;
    if (first !== undefined)
      return {
        ...{ ...facts, level: 'problem', code: first.causeCode },
        message: `Some of its lists could not be read: ${listFaults.map((one) => one.cause).join('; ')}.`,
        remedy: findRemedy(name, first.causeCode),
      };
    return {
      ...facts,
      level: 'ok',
      message: `${SERVER_STATES[state].meaning} ${formatCount(tools, 'tool')}.`,
    };
  });
}

function findRemedy(server: string, code: string): string {
  const known = CAUSE_CODES.find((one) => one === code);
  return known === undefined ? `\`assay logs ${server}\` shows its log.` : getRemedy(known);
}

function checkCondition({ name, condition }: ServerFacts): Finding {
  if (condition.kind === 'up') {
    const { era, revision, readyAfterMs, tools, listFaults } = condition;
    const [first] = listFaults;
    if (first !== undefined)
      return {
        check: 'servers',
        level: 'problem',
        about: name,
        code: first.code,
        message: `Up, with ${revision} (${era}), but some of its lists could not be read: ${listFaults.map(formatCause).join('; ')}.`,
        remedy: getRemedy(first.code),
      };
    const count = tools.length === 1 ? '1 tool' : `${tools.length} tools`;
    return {
      check: 'servers',
      level: 'ok',
      about: name,
      message: `Up after ${readyAfterMs} ms, with ${revision} (${era}): ${count}.`,
    };
  }
  const { cause, lastLines } = condition;
  // If stderr has an error, the cause already contains it.
  const output = lastLines.length === 0 || 'stderr' in cause ? '' : ` Last output: ${lastLines.join(' / ')}`;
  return {
    check: 'servers',
    level: 'problem',
    about: name,
    code: cause.code,
    message: `Down, so its tools are missing: ${formatCause(cause)}.${output}`,
    remedy: getRemedy(cause.code),
  };
}

/** Maximum number of tools with a line of their own. */
const MAX_WITHHELD = 20;

function checkWithheld({ name: about, condition }: ServerFacts): readonly Finding[] {
  const withheld = condition.kind === 'up' ? (condition.withheld ?? []) : [];
  const finding = (message: string): Finding => ({
    ...{ check: 'servers', level: 'warning', about, message },
    remedy: 'Report this to the author of the server; its other tools are listed.',
  });
  return [
    ...withheld
      .slice(0, MAX_WITHHELD)
      .map(({ tool, reason }) => finding(`Its tool ${quote(tool)} is withheld: ${reason}.`)),
    ...(withheld.length > MAX_WITHHELD
      ? [finding(`${withheld.length - MAX_WITHHELD} more of its tools are withheld.`)]
      : []),
  ];
}

/** Only a twin that does not start is worth a line of its own. */
function checkTwin({ name: about, condition }: ServerFacts): readonly Finding[] {
  const cause = condition.kind === 'up' ? condition.twin?.cause : undefined;
  if (cause === undefined) return [];
  return [
    {
      ...{ check: 'sandbox', level: 'problem', about, code: cause.code },
      message: `The process for its read-only tools did not start in its sandbox, so their calls are refused: ${formatCause(cause)}.`,
      remedy: getRemedy(cause.code),
    },
  ];
}

function warned(about: string, { code, text }: ServerWarning): Finding {
  return {
    check: 'servers',
    level: 'warning',
    about,
    ...(code !== undefined && { code }),
    message: `At its start: ${text}.`,
    remedy:
      code === 'MESSAGE_INVALID'
        ? 'Make it write its log to stderr: stdout is only for messages.'
        : 'Report this to the author of the server.',
  };
}
