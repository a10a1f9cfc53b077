import { shortHash } from './digest.ts';
import type { ServerSpec, Transport } from './server-spec.ts';

const HASH_DIGITS = 16;

/**
 * Which server it is, beside its name: a hash of what decides which code runs, or of its URL, as these may hold secrets.
 * A server that is swapped under its name inherits nothing. Headers, limits and all other environment are no part of it.
 */
export function identityOf({ transport }: Pick<ServerSpec, 'transport'>): string {
  if (transport.kind === 'openapi') return hashOf([transport.kind, transport.document]);
  return hashOf(transport.kind === 'http' ? [transport.url.href] : whatRuns(transport));
}

/**
 * Who runs it: a hash of what decides which code runs, or of its origin. What operators say of a server and its tools holds
 * for this, so that another path or a new key in its URL costs none of it.
 */
export function originIdentityOf({ transport }: Pick<ServerSpec, 'transport'>): string {
  if (transport.kind === 'openapi')
    return hashOf([transport.kind, URL.parse(transport.document)?.origin ?? transport.document]);
  return hashOf(transport.kind === 'http' ? [transport.url.origin] : whatRuns(transport));
}

function whatRuns(transport: Extract<Transport, { readonly kind: 'stdio' | 'local' }>): readonly string[] {
  // What operators make themselves has no other owner, whatever becomes of it.
  if (transport.kind === 'local') return [transport.kind];
  const { command, args, cwd, isCwdGiven = false, env } = transport;
  const choosing = Object.entries(env).filter(
    ([name]) => CHOOSES_CODE.test(name) && !IS_CREDENTIAL.test(name),
  );
  const folder = isCwdGiven || isRelative(command, args) ? cwd : '';
  return [JSON.stringify([command, ...args]), folder, JSON.stringify(choosing.toSorted(byName))];
}

/** Whether the folder decides which file is run. */
function isRelative(command: string, args: readonly string[]): boolean {
  const isBelow = /[/\\]/.test(command) && !IS_ABSOLUTE.test(command);
  return isBelow || args.some((arg) => RELATIVE_FILE.test(arg) && !IS_ABSOLUTE.test(arg));
}

const IS_ABSOLUTE = /^(?:[/\\]|[A-Za-z]:[/\\]|\w+:\/\/)/;
/** As `./server`, `build/index.js`, `--import=./hook.mjs`; and `-m`, by which Python looks in the folder first. */
const RELATIVE_FILE =
  /^(?:-m|(?:-[\w-]+=)?\.{1,2}(?:[/\\].*)?|[^/@-][^:]*\.(?:[cm]?[jt]sx?|py|rb|sh|bash|pl|php|jar|exe|wasm))$/i;

type Variable = readonly [name: string, value: string];

function byName([one]: Variable, [other]: Variable): number {
  return one < other ? -1 : 1;
}

/** A new one of these is no other code. */
const IS_CREDENTIAL = /token|password|passwd|secret|auth|username|key/i;

/** Variables by which the loader, a shell, a runtime or a package runner runs other code at the same command. */
const CHOOSES_CODE =
  /^(?:PATH|PATHEXT|LD_.+|DYLD_.+|GCONV_PATH|NODE_(?:OPTIONS|PATH)|PYTHON(?:PATH|HOME|STARTUP|USERBASE)|VIRTUAL_ENV|RUBY(?:OPT|LIB)|GEM_(?:HOME|PATH)|BUNDLE_GEMFILE|PERL5?(?:OPT|LIB|DB)|CLASSPATH|JAVA_HOME|(?:_|JDK_)?JAVA_(?:TOOL_)?OPTIONS|BASH_ENV|ENV|SHELL|COMSPEC|DOTNET_STARTUP_HOOKS|DENO_DIR|(?:npm|NPM)_CONFIG_.+|(?:UV|PIP|PIPX|BUN|YARN|PNPM)_.+)$/i;

function hashOf(what: readonly string[]): string {
  return shortHash(JSON.stringify(what), HASH_DIGITS);
}
