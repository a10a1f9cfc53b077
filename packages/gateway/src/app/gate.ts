import { join } from 'node:path';
import { mintToken, hashSecret } from '../adapters/auth/mint-token.ts';
import { SessionGate, type SessionGateOptions } from '../adapters/auth/session-gate.ts';
import { TokenGate, type TokenGateOptions } from '../adapters/auth/token-gate.ts';
import { FIXED_LIMITS } from '../core/fixed-limits.ts';
import { computeBaseUrls, type ProtectedResource } from '../core/protected-resource.ts';
import type { ReachRules } from '../core/reach-rules.ts';
import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../core/sentences.ts';
import type { Settings } from '../core/settings.ts';
import { LOCAL_USER } from '../core/subject.ts';
import { parseToken, createSteadyClock, getTokenState } from '../core/token.ts';
import type { Gate } from '../gateway/ports/gate.ts';
import type { Log } from '../gateway/ports/log.ts';
import type { PageSessions } from '../gateway/ports/page-sessions.ts';
import type { Store, StoredToken } from '../gateway/ports/store.ts';
import { createToken, revokeToken } from '../gateway/services/tokens.ts';
import { readText, writeAtomically } from '@assay-mcp/kit/platform/files';

/** Assay as a protected resource. Its own URLs may be unknown until it listens. */
interface ResourceServer {
  readonly resource: ProtectedResource;
  listensAt(url: string): void;
}

interface OpenGate extends Gate {
  readonly sessions: PageSessions;
  close(): void;
}

/** Undefined if no issuer is set. SETTING_INVALID: clients could not be told the URL of Assay. */
export function readResourceServer(
  settings: Settings,
  host: string,
): Result<ResourceServer | undefined, Refusal> {
  const issuer = settings['auth.issuer'];
  const publicUrl = settings['auth.publicUrl'];
  if (issuer === '') return ok(undefined);
  if (publicUrl === '' && ANY_ADDRESS.test(host)) return err({ code: 'SETTING_INVALID', ...NEEDED });
  let bases = publicUrl === '' ? [] : computeBaseUrls(publicUrl, publicUrl);
  const resource: ProtectedResource = {
    issuer,
    audience: settings['auth.audience'],
    get bases() {
      return bases;
    },
  };
  return ok({ resource, listensAt: (url) => (bases = computeBaseUrls(publicUrl, url)) });
}

/** Wildcard addresses, which are not host names. */
const ANY_ADDRESS = /^(?:0\.0\.0\.0|\[?::\]?)$/;

const NEEDED = {
  name: 'auth.publicUrl',
  reason:
    'set it to the URL by which clients reach Assay: Assay listens on all addresses, and tokens of auth.issuer are issued for one',
};

/**
 * The gate for Assay's own tokens, and for those of the issuer if one is set. The caller closes it, before the store.
 */
export async function openGate({
  settings,
  resource,
  clock = createSteadyClock(),
  rules,
  maxFailures = FIXED_LIMITS.tokenFailures,
  ...options
}: Omit<TokenGateOptions, 'maxFailures' | 'store'> & {
  readonly store: TokenGateOptions['store'] & SessionGateOptions['store'];
  readonly settings: Settings;
  readonly resource: ProtectedResource | undefined;
  readonly clock?: () => number;
  readonly rules: ReachRules;
  readonly isLocalOnly: SessionGateOptions['isLocalOnly'];
  /** Maximum number of invalid tokens from one address per minute. */
  readonly maxFailures?: number | undefined;
}): Promise<OpenGate> {
  const own = await TokenGate.open({ ...options, maxFailures });
  const withSessions = (tokens: Gate): OpenGate => {
    const sessions = new SessionGate({ ...options, tokens, maxFailures, nowMs: clock });
    return withPages({ tokens, sessions, clock, close: () => own.close() });
  };
  if (resource === undefined) return withSessions(own);
  const { openIssuerKeys } = await import('../adapters/auth/issuer-keys.ts');
  const { openJwtCheck } = await import('../adapters/auth/jwt-check.ts');
  const { IssuerGate } = await import('../adapters/auth/issuer-gate.ts');
  const { issuer } = resource;
  const keys = await openIssuerKeys({ issuer, jwksUri: settings['auth.jwksUri'], rules });
  const check = await openJwtCheck(keys, resource);
  const gate = new IssuerGate({ ...options, issuer, check, own, maxFailures });
  return withSessions(gate);
}

interface GateParts {
  readonly tokens: Gate;
  readonly sessions: SessionGate;
  readonly clock: () => number;
  readonly close: () => void;
}

/** Adds browser sessions, and gives both gates a clock that never goes back. */
function withPages({ tokens, sessions, clock, close }: GateParts): OpenGate {
  return {
    admit: (authorization, address) => tokens.admit(authorization, address, clock()),
    isHolder: (holder, scope) =>
      holder.sessionId === undefined
        ? tokens.isHolder(holder, scope, clock())
        : sessions.isHolder(holder, scope),
    onTokens: (listener) => {
      const endings = [tokens.onTokens(listener), sessions.onSessions(listener)];
      return () => endings.forEach((end) => end());
    },
    refresh: () => tokens.refresh(),
    revoke: (id) => tokens.revoke(id, clock()),
    isFitForNetwork: () => tokens.isFitForNetwork(clock()),
    sessions,
    close: () => {
      sessions.close();
      close();
    },
  };
}

const NAME = 'admin';
/** How many names are tried; one may belong to an expired token or one with fewer scopes. */
const MAX_NAMES = 9;

/**
 * Returns the path of the file in the home with a token for the REST API. Creates the token if the store has no valid
 * admin token. Undefined if other admin tokens exist, or if it cannot be created, which is logged.
 */
export async function ensureAdminToken(
  store: Store,
  { home, log }: { readonly home: string; readonly log: Log },
): Promise<string | undefined> {
  const path = join(home, 'admin-token');
  const made = await ensure(store, path);
  if (made.ok) return made.value ? path : undefined;
  log.warn('no token for the REST API could be made', { path, cause: formatRefusal(made.error) });
  return undefined;
}

/** Whether the file holds a valid admin token. */
async function ensure(store: Store, path: string): Promise<Result<boolean, Refusal>> {
  for (let count = 1; count <= MAX_NAMES; count += 1) {
    const tokens = await store.tokens();
    if (!tokens.ok) return tokens;
    const valid = tokens.value.filter(isAdmin);
    if (valid.length > 0) return ok(await holdsOne(path, valid));
    const name = count === 1 ? NAME : `${NAME}-${count}`;
    const made = await make(store, { path, name });
    // A concurrent start may have created the token and its file.
    if (made.ok || made.error.code !== 'TOKEN_EXISTS') return made;
  }
  return err({ code: 'TOKEN_EXISTS', name: NAME });
}

async function make(
  store: Store,
  { path, name }: { readonly path: string; readonly name: string },
): Promise<Result<boolean, Refusal>> {
  const nowMs = Date.now();
  const input = { name, scopes: ['admin'], lifetimeMs: undefined } as const;
  const created = await createToken(input, { store, mint: mintToken, nowMs, by: LOCAL_USER.subject });
  if (!created.ok) return created;
  const { id, token } = created.value;
  const written = await writeAtomically(path, `${token}\n`, 0o600);
  if (written.ok) return ok(true);
  // A token that nobody can read would keep the next start from creating one.
  await revokeToken(id, { store, nowMs, by: LOCAL_USER.subject });
  return err({ code: 'FILE_UNWRITABLE', path, reason: written.error.reason });
}

function isAdmin(token: StoredToken): boolean {
  return token.scopes.includes('admin') && getTokenState(token, Date.now()) === 'valid';
}

async function holdsOne(path: string, tokens: readonly StoredToken[]): Promise<boolean> {
  const text = await readText(path);
  const parts = text.ok ? parseToken(text.value.trim()) : undefined;
  if (parts === undefined) return false;
  const hash = hashSecret(parts.secret).toString('hex');
  return tokens.some((token) => token.id === parts.id && token.hash === hash);
}
