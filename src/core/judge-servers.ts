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

/** How a server did when it was really started. What it said itself is without secrets. */
export interface ServerFacts {
  readonly name: string;
  readonly way: 'stdio' | 'http' | 'openapi' | 'local';
  /** Whether each client has a process or session of it for itself, so that it can be asked. */
  readonly isolation: ServerSpec['isolation'];
  readonly condition:
    | {
        readonly kind: 'up';
        readonly era: string;
        readonly revision: string;
        readonly stoodAfterMs: number;
        readonly tools: readonly DeclaredHints[];
        /** Phrases: why lists of it could not be read. */
        readonly listFaults: readonly string[];
        /** Undefined where that was not tried: a modern server is offered nothing at a handshake. */
        readonly offered: OfferFacts | undefined;
      }
    | {
        readonly kind: 'down';
        /** A phrase. */
        readonly cause: string;
        /** The last lines of its stderr. */
        readonly lastWords: readonly string[];
      };
  /** Phrases on what Assay had to pass over while it started. */
  readonly warnings: readonly string[];
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

function judgeCondition({ name, way, condition }: ServerFacts): Finding {
  if (condition.kind === 'up') {
    const { era, revision, stoodAfterMs, tools, listFaults } = condition;
    if (listFaults.length > 0)
      return {
        check: 'servers',
        level: 'problem',
        about: name,
        says: `It stands and speaks ${revision} (${era}), but not everything that it has could be listed: ${listFaults.join('; ')}.`,
        remedy: 'The server answered so itself: look at its log and at whatever it gets these lists from.',
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
    says: `It does not stand, so its tools are missing: ${cause}.${said}`,
    remedy: remedyOf(cause, way),
  };
}

/** By the phrases in which causes are told; the first that fits counts. */
const REMEDIES: readonly (readonly [cause: RegExp, remedy: string])[] = [
  [/there is no command/, 'Install the command, or correct "command" or "cwd" in its config entry.'],
  [/its cwd is no folder/, 'Correct "cwd" in its config entry.'],
  [/may not be executed/, 'Give the file the right to be executed (`chmod +x`).'],
  [/too long/, 'Shorten "args" or "env" in its config entry.'],
  [
    /waits for authorization/,
    'Run that command and sign in; a running `assay serve` then takes it up by itself.',
  ],
  [
    /HTTP 40[13]\b/,
    'Set valid credentials in "headers" of its config entry, such as "Authorization": "Bearer ${TOKEN}".',
  ],
  [/HTTP 3\d\d\b/, 'Set the address that it points to as "url" in its config entry.'],
  [/HTTP 40[45]\b/, 'Look at the path of "url" in its config entry: MCP is not served there.'],
  [/HTTP 429\b/, 'It has too many requests: try again later.'],
  [/HTTP 5\d\d\b/, 'The server itself is in trouble: look at its log, or try again later.'],
  [/ECONNREFUSED/, 'Start the server, or correct host and port of "url" in its config entry.'],
  [
    /host name is not known/,
    'Correct the host of "url" in its config entry, or look at your network and DNS.',
  ],
  [/connect time-out|EHOSTUNREACH|ENETUNREACH/, 'Look at your network, proxy and firewall, and at "url".'],
  [
    /CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|SSL/i,
    'Look at its certificate; one of your own goes into a file that NODE_EXTRA_CA_CERTS names.',
  ],
  [/which Assay does not speak/, 'Use a version of the server that speaks a released revision of MCP.'],
];

const IN_TIME = /in time|did not stand within/;
const BY_HAND = 'Start its command by hand in a terminal and look at what it says.';

function remedyOf(cause: string, way: ServerFacts['way']): string {
  const found = REMEDIES.find(([phrase]) => phrase.test(cause))?.[1];
  if (found !== undefined) return found;
  if (way === 'http') return 'Look at "url" and "headers" in its config entry, and at the log of the server.';
  if (IN_TIME.test(cause))
    return `${BY_HAND} A first start by npx, uvx or docker downloads the server; that by hand once is enough.`;
  return `${BY_HAND} It sees no other variables than a harmless few and those in "env" of its config entry.`;
}

function warned(name: string, warning: string): Finding {
  const isNoise = warning.includes('no JSON-RPC message');
  return {
    check: 'servers',
    level: 'warning',
    about: name,
    says: `At its start: ${warning}.`,
    remedy: isNoise
      ? 'Have it write its log to stderr: stdout of a server belongs to messages alone.'
      : 'Tell the author of the server.',
  };
}
