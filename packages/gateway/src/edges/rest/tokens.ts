import type * as z from 'zod';
import { NEW_TOKEN, type Token, TOKEN_INPUT, TOKEN_PAGE } from '../../api/token.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { allows, SCOPES } from '../../core/subject.ts';
import { findUnsavedReason } from '../../core/errors.ts';
import { parseLifetimeMs } from '../../core/token.ts';
import { createToken, listTokens, revokeToken } from '../../gateway/services/tokens.ts';
import type { AdminDeps } from './admin-deps.ts';
import { toFieldError, type Failure } from './failure.ts';
import { paginate } from './paging.ts';
import { toListReply, route, type RestCall, type Route } from './route.ts';

const EXAMPLE: Token = {
  id: '0f3a5c7e9b1d',
  name: 'ci',
  scopes: ['read', 'mcp'],
  state: 'valid',
  createdAt: '2026-11-22T09:30:00.000Z',
  expiresAt: '2026-12-22T09:30:00.000Z',
  revokedAt: null,
};

export type TokenDeps = Pick<AdminDeps, 'store' | 'mint' | 'nowMs'> & {
  readonly gate: Pick<AdminDeps['gate'], 'refresh' | 'revoke'>;
};

export function tokenRoutes(deps: TokenDeps): readonly Route[] {
  return [listRoute(deps), createRoute(deps), revokeRoute(deps)];
}

function listRoute({ store, nowMs }: TokenDeps): Route {
  return route(
    {
      method: 'get',
      path: '/tokens',
      id: 'listTokens',
      summary: 'List all tokens ever created, oldest first',
      about: 'The secret part of tokens is not included.',
      isPaged: true,
      answer: {
        about: 'A page of tokens.',
        schema: TOKEN_PAGE,
        example: { tokens: [EXAMPLE] },
      },
    },
    async ({ page }) => {
      const tokens = await listTokens(store, nowMs());
      if (!tokens.ok) return tokens;
      const found = paginate(tokens.value, page, ({ createdAt, id }) => `${createdAt} ${id}`);
      return found.ok ? ok(toListReply('tokens', found.value)) : found;
    },
  );
}

function createRoute({ store, mint, nowMs }: TokenDeps): Route {
  return route(
    {
      method: 'post',
      path: '/tokens',
      id: 'createToken',
      summary: 'Create a token',
      about: 'Its scopes must be among those of the token that creates it.',
      body: {
        schema: TOKEN_INPUT,
        examples: { token: { name: 'ci', scopes: ['read', 'mcp'], expiresIn: '30d' } },
      },
      answer: {
        status: 201,
        about: 'The created token, with its secret.',
        schema: NEW_TOKEN,
        example: { ...EXAMPLE, token: 'assay_0f3a5c7e9b1d_…' },
      },
      refusals: ['TOKEN_EXISTS'],
    },
    async (call) => {
      const { name, scopes } = call.body;
      const lacking = scopes.find((scope) => !allows(call.identity, scope));
      if (lacking !== undefined) return err({ code: 'SCOPE_MISSING', scope: lacking });
      const now = nowMs();
      const lifetimeMs = lifetimeOf(call, now);
      if (!lifetimeMs.ok) return lifetimeMs;
      const input = {
        name,
        scopes: SCOPES.filter((scope) => scopes.includes(scope)),
        lifetimeMs: lifetimeMs.value,
      };
      const created = await createToken(input, { store, mint, nowMs: now, by: call.identity.subject });
      return created.ok ? ok({ kind: 'one', body: created.value }) : created;
    },
  );
}

type CreateCall = RestCall<unknown, z.output<typeof TOKEN_INPUT>>;

function lifetimeOf(call: CreateCall, nowMs: number): Result<number | undefined, Failure> {
  const { expiresIn, expiresAt } = call.body;
  if (expiresIn !== undefined && expiresAt !== undefined)
    return err(toFieldError(call.pointerTo('expiresAt'), 'expiresIn is given too; give only one of them'));
  if (expiresIn !== undefined) {
    const lifetimeMs = parseLifetimeMs(expiresIn);
    return lifetimeMs.ok ? lifetimeMs : err(toFieldError(call.pointerTo('expiresIn'), lifetimeMs.error));
  }
  if (expiresAt === undefined) return ok(undefined);
  const lifetimeMs = Date.parse(expiresAt) - nowMs;
  return lifetimeMs > 0
    ? ok(lifetimeMs)
    : err(toFieldError(call.pointerTo('expiresAt'), 'it is in the past'));
}

function revokeRoute({ store, gate, nowMs }: TokenDeps): Route {
  return route(
    {
      method: 'delete',
      path: '/tokens/{id}',
      id: 'revokeToken',
      summary: 'Revoke a token',
      about:
        'The token is refused from then on, and sessions and streams opened with it end. If the revocation cannot be stored (REVOCATION_UNSAVED), it applies only to this process, until that ends.',
      answer: { status: 204, about: 'The token is revoked.' },
      refusals: ['TOKEN_UNKNOWN', 'REVOCATION_UNSAVED'],
    },
    async (call) => {
      const id = call.param('id');
      // The store accepts names too, but a DELETE must name exactly one token.
      if (!/^[0-9a-f]{12}$/.test(id)) return err({ code: 'TOKEN_UNKNOWN', name: id });
      const now = nowMs();
      // Revoke in this process first: a slow, full or unavailable store must not keep a leaked token alive.
      let isHere = gate.revoke(id, now);
      if (!isHere) {
        await gate.refresh(); // Another process may just have created it.
        isHere = gate.revoke(id, now);
      }
      const revoked = await revokeToken(id, { store, nowMs: now, by: call.identity.subject });
      if (revoked.ok) {
        await gate.refresh();
        return ok({ kind: 'none' });
      }
      const reason = findUnsavedReason(revoked.error);
      if (reason === undefined || !isHere) return revoked;
      return err({ code: 'REVOCATION_UNSAVED', kind: 'token', name: id, reason });
    },
  );
}
