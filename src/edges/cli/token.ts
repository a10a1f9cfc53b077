import type { Refusal } from '../../core/refusal.ts';
import { printable } from '../../core/printable.ts';
import { err, type Result } from '../../core/result.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import { lifetimeMsOf, scopesOf, tokenNameFault } from '../../core/token.ts';
import type { Store } from '../../gateway/ports/store.ts';
import { createSignInLink } from '../../gateway/services/sign-in-links.ts';
import {
  createToken as create,
  listTokens as list,
  revokeToken as revoke,
  type TokenView,
} from '../../gateway/services/tokens.ts';
import { printRefusal, print, printError, printJson, printText, style, tableOf } from './output.ts';
import type { Runtime } from './runtime.ts';
import { withOpened } from './with-opened.ts';

export interface TokenOptions {
  readonly home?: string;
  readonly json?: boolean;
}

export interface LinkOptions extends TokenOptions {
  readonly url?: string;
}

export interface CreateTokenOptions extends TokenOptions {
  readonly scope: string;
  readonly expires?: string;
}

/** `assay token create`: only the token on stdout, for use as `$(assay token create ci)`; details on stderr. */
export async function createToken(
  runtime: Runtime,
  name: string,
  options: CreateTokenOptions,
): Promise<number> {
  const scopes = scopesOf(options.scope);
  if (!scopes.ok) return printRefusal({ code: 'ARGUMENTS_INVALID', reason: scopes.error });
  const lifetime = options.expires === undefined ? undefined : lifetimeMsOf(options.expires);
  if (lifetime?.ok === false) return printRefusal({ code: 'ARGUMENTS_INVALID', reason: lifetime.error });
  const input = { name, scopes: scopes.value, lifetimeMs: lifetime?.value };
  return withStore(runtime, options, async (store) => {
    const created = await create(input, {
      store,
      mint: runtime.mintToken,
      nowMs: Date.now(),
      by: LOCAL_USER.subject,
    });
    if (!created.ok) return created;
    const { text, view } = created.value;
    if (options.json === true) printJson({ ...view, token: text });
    else printText(text);
    printError(
      `Token ${printable(JSON.stringify(name))} (id ${view.id}): scopes ${view.scopes.join(', ')}; expires ${view.expiresAt ?? 'never'}.\n` +
        'It is shown this once. Clients send it as "Authorization: Bearer <token>".',
    );
    return created;
  });
}

/** `assay token list`: all tokens ever created, without their secrets. */
export function listTokens(runtime: Runtime, options: TokenOptions): Promise<number> {
  return withStore(runtime, options, async (store) => {
    const tokens = await list(store, Date.now());
    if (!tokens.ok) return tokens;
    if (options.json === true) printJson({ tokens: tokens.value });
    else print(tableOf(['NAME', 'ID', 'STATE', 'CREATED', 'EXPIRES', 'SCOPES'], tokens.value.map(row)));
    for (const { id, name, state } of tokens.value) {
      const fault = state === 'valid' ? tokenNameFault(name) : undefined;
      if (fault !== undefined)
        printError(`note: the name of the token ${id} is from an earlier version: ${fault}. ${REPLACE}`);
    }
    if (tokens.value.length === 0)
      printError('There are no tokens. Create one with `assay token create NAME`.');
    return tokens;
  });
}

const REPLACE = 'Create another token and revoke this one.';

/** `assay token revoke`: takes effect at once, even in a running Assay. */
export function revokeToken(runtime: Runtime, what: string, options: TokenOptions): Promise<number> {
  return withStore(runtime, options, async (store) => {
    const revoked = await revoke(what, { store, nowMs: Date.now(), by: LOCAL_USER.subject });
    if (!revoked.ok) return revoked;
    const { name, id } = revoked.value;
    if (options.json === true) printJson(revoked.value);
    else print(`Revoked ${printable(JSON.stringify(name))} (id ${id}).`);
    return revoked;
  });
}

/** `assay token link`: only the link on stdout. */
export function createLink(runtime: Runtime, options: LinkOptions): Promise<number> {
  return withOpened(runtime.openStore(options), async ({ store, serveUrl }) => {
    const base = options.url ?? (await serveUrl());
    if (base === undefined) return err({ code: 'ARGUMENTS_INVALID', reason: NO_SERVE });
    if (!/^https?:\/\/[^/?#]+\/?$/.test(base)) return err({ code: 'ARGUMENTS_INVALID', reason: NO_ORIGIN });
    const by = LOCAL_USER.subject;
    const link = await createSignInLink(base, { store, mint: runtime.mintSession, nowMs: Date.now(), by });
    if (!link.ok) return link;
    const expiresAt = new Date(link.value.expiresMs).toISOString();
    if (options.json === true) printJson({ url: link.value.url, expiresAt });
    else printText(link.value.url);
    printError('Open it in a browser within 10 minutes. It signs in once, with the scope admin.');
    return link;
  });
}

const NO_SERVE =
  'no `assay serve` is running with this home; start one, or give the URL of another with --url';
const NO_ORIGIN = '--url must be like https://assay.example.com or http://127.0.0.1:4444';

function withStore(
  runtime: Runtime,
  options: TokenOptions,
  work: (store: Store) => Promise<Result<unknown, Refusal>>,
): Promise<number> {
  return withOpened(runtime.openStore(options), ({ store }) => work(store));
}

function row({ id, name, scopes, createdAt, expiresAt, state }: TokenView): readonly string[] {
  const colour = state === 'valid' ? style.green : style.red;
  return [name, id, colour(state), createdAt, expiresAt ?? 'never', scopes.join(', ')];
}
