import { shortHash } from '../digest.ts';

/** What a tool says of its own behaviour (2025-11-25, schema#toolannotations). */
export type Hint = 'readOnlyHint' | 'destructiveHint' | 'idempotentHint' | 'openWorldHint';

export const HINTS: readonly Hint[] = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'];

export type Hints = Readonly<Record<Hint, boolean>>;

/**
 * What the specification has a tool be that does not say. Each is the cautious value as well: one that lets a client expect
 * more harm than the other.
 */
export const DEFAULTS: Hints = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: true,
};

export function isCautious(hint: Hint, value: boolean): boolean {
  return value === DEFAULTS[hint];
}

/** The hint that a reader who ignores case, hyphens and underscores takes a key for. */
export function hintMeant(key: string): Hint | undefined {
  const folded = key.replace(/[-_]/g, '').toLowerCase();
  return HINTS.find((hint) => hint.toLowerCase() === folded);
}

/** What somebody says of hints: one that is absent is not false. */
export type SaidHints = Readonly<Partial<Record<Hint, boolean>>>;

/** The hints that are booleans among these members. */
export function saidHints(members: Readonly<Record<string, unknown>>): SaidHints {
  const said = HINTS.filter((hint) => Object.hasOwn(members, hint) && typeof members[hint] === 'boolean');
  return Object.fromEntries(said.map((hint) => [hint, members[hint]]));
}

/** The rule that nobody may set aside: what only reads destroys nothing. Defaults never count. */
export function isContradiction({ readOnlyHint, destructiveHint }: SaidHints): boolean {
  return readOnlyHint === true && destructiveHint === true;
}

/** Somebody's word on one hint of one tool. */
export interface Claim {
  readonly hint: Hint;
  readonly value: boolean;
  /** `declared` by the source, `inferred` by a rule, `override` by an operator, `observed` by verification. */
  readonly kind: ClaimKind;
  /** Who says so. */
  readonly source: ClaimSource;
  /** The name of who says so: a server, a module, a subject, a rule, a run of verification. */
  readonly origin: string;
  /** Why, as a phrase: "GET request". */
  readonly reason?: string | undefined;
  readonly atMs: number;
  /** SHA-256 of the definition that it speaks of. */
  readonly digest: string;
  /**
   * Whether a decision may be less careful for it. Otherwise it may only make one more careful: the word of a server that
   * the operator does not trust.
   */
  readonly mayLower: boolean;
  /** Why it does not count for the time being; it is shown all the same. */
  readonly suspended?: string | undefined;
}

type ClaimKind = 'declared' | 'inferred' | 'override' | 'observed';

/**
 * `server`: the upstream server. `operator`: an operator, through the API, the CLI or the pages. `config_file`: the entry of
 * a REST tool there. `document`: `x-mcp` of an OpenAPI document. `module`: a module of functions. `rule`: what an HTTP method
 * means. `verification`: a run that watched the tool.
 */
export type ClaimSource =
  'server' | 'operator' | 'config_file' | 'document' | 'module' | 'rule' | 'verification';

/** Whether an operator trusts a server. Holds for the server that had the name then, and for no other. */
export interface TrustRecord {
  readonly server: string;
  readonly identity: string;
  /** Whether its hints may lower caution. */
  readonly trust: boolean;
}

const DIGITS = 20;

/**
 * The id of a tool, by what its server is and calls it: the same after a refresh, a restart and a new registration of the
 * same server. What a swapped server has under the same name is another tool.
 */
export function toolIdOf(server: string, identity: string, name: string): string {
  return `tool_${shortHash(JSON.stringify([server, identity, name]), DIGITS)}`;
}

/** The id under which is kept what an operator says of a server. A swapped one has another. */
export function serverIdOf(server: string, identity: string): string {
  return `server_${shortHash(JSON.stringify([server, identity]), DIGITS)}`;
}

/** The id of a gateway, as the REST API calls a server: that of its name. */
export function gatewayIdOf(name: string): string {
  return `gateway_${shortHash(name, DIGITS)}`;
}

/** The id of the record of a REST tool that an operator made. */
export function restToolIdOf(name: string): string {
  return `rest_${shortHash(name, DIGITS)}`;
}

/** The id of the record of a module of functions that an operator added. */
export function functionModuleIdOf(path: string): string {
  return `module_${shortHash(path, DIGITS)}`;
}
