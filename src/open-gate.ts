import { TokenGate, type TokenGateOptions } from './adapters/auth/token-gate.ts';
import { basesOf, type ProtectedResource } from './core/protected-resource.ts';
import type { ReachRules } from './core/reach.ts';
import type { Refusal } from './core/refusal.ts';
import { err, ok, type Result } from './core/result.ts';
import type { Settings } from './core/settings.ts';
import { steadyClock } from './core/token.ts';
import type { Gate } from './gateway/ports/link.ts';

/** Assay as a resource whose own URLs may be known only when it listens. */
export interface Place {
  readonly resource: ProtectedResource;
  listensAt(url: string): void;
}

export interface OpenGate extends Gate {
  close(): void;
}

/** Undefined where no issuer is set. SETTING_INVALID: clients could not be told where they are. */
export function placeOf(settings: Settings, host: string): Result<Place | undefined, Refusal> {
  const issuer = settings['auth.issuer'];
  const publicUrl = settings['auth.publicUrl'];
  if (issuer === '') return ok(undefined);
  if (publicUrl === '' && ANY_ADDRESS.test(host)) return err({ code: 'SETTING_INVALID', ...NEEDED });
  let bases = publicUrl === '' ? [] : basesOf(publicUrl, publicUrl);
  const resource: ProtectedResource = {
    issuer,
    audience: settings['auth.audience'],
    get bases() {
      return bases;
    },
  };
  return ok({ resource, listensAt: (url) => (bases = basesOf(publicUrl, url)) });
}

/** Addresses that are nobody's name. */
const ANY_ADDRESS = /^(?:0\.0\.0\.0|\[?::\]?)$/;

const NEEDED = {
  name: 'auth.publicUrl',
  reason:
    'it must say by which URL clients reach Assay, as it listens on all addresses, and tokens of auth.issuer are meant for one',
};

/** The gate of our own tokens, and of those of an issuer where one is set. Whoever opens it closes it, before the store. */
export async function openGate({
  settings,
  resource,
  clock = steadyClock(),
  rules,
  ...options
}: Omit<TokenGateOptions, 'mostFailures'> & {
  readonly settings: Settings;
  readonly resource: ProtectedResource | undefined;
  readonly clock?: () => number;
  readonly rules: ReachRules;
}): Promise<OpenGate> {
  const mostFailures = settings['limits.tokenFailures'];
  const own = await TokenGate.open({ ...options, mostFailures });
  if (resource === undefined) return steady(own, clock);
  const { openIssuerKeys } = await import('./adapters/auth/issuer-keys.ts');
  const { openJwtCheck } = await import('./adapters/auth/jwt-check.ts');
  const { IssuerGate } = await import('./adapters/auth/issuer-gate.ts');
  const { issuer } = resource;
  const keys = await openIssuerKeys({ issuer, jwksUri: settings['auth.jwksUri'], rules });
  const check = await openJwtCheck(keys, resource);
  const gate = new IssuerGate({ ...options, issuer, check, own, mostFailures });
  return steady(
    {
      admit: (authorization, address, nowMs) => gate.admit(authorization, address, nowMs),
      isHolder: (holder, scope, nowMs) => gate.isHolder(holder, scope, nowMs),
      onTokens: (listener) => gate.onTokens(listener),
      refresh: () => gate.refresh(),
      revoke: (id, nowMs) => gate.revoke(id, nowMs),
      isFitForNetwork: (nowMs) => gate.isFitForNetwork(nowMs),
      close: () => own.close(),
    },
    clock,
  );
}

/** Whatever the machine's clock says, no time is earlier than one that the gate has seen. */
function steady(gate: OpenGate, clock: () => number): OpenGate {
  return {
    admit: (authorization, address) => gate.admit(authorization, address, clock()),
    isHolder: (holder, scope) => gate.isHolder(holder, scope, clock()),
    onTokens: (listener) => gate.onTokens(listener),
    refresh: () => gate.refresh(),
    revoke: (id) => gate.revoke(id, clock()),
    isFitForNetwork: () => gate.isFitForNetwork(clock()),
    close: () => gate.close(),
  };
}
