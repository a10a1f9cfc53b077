import type { NewToken, Token } from '../../api/token.ts';
import { toPrintable } from '../../core/printable.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { parseToken, findTokenNameFault } from '../../core/token.ts';
import type { CodedProblem } from '../../api/problem.ts';
import type { Api } from './api.ts';
import { print, printError, printJson, printText, style, formatTable } from './output.ts';
import type { Runtime } from './runtime.ts';
import { apiPath, listAll, withApi } from './with-api.ts';

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
export function createToken(runtime: Runtime, name: string, options: CreateTokenOptions): Promise<number> {
  const { scope, expires, json } = options;
  const scopes = scope.split(',').map((one) => one.trim());
  const body = { name, scopes, ...(expires !== undefined && { expiresIn: expires }) };
  return withApi(runtime, options, async (api) => {
    const created = await api.send<NewToken>({ method: 'POST', path: '/tokens', body });
    if (!created.ok) return created;
    const { token, id, scopes: granted, expiresAt } = created.value;
    if (json === true) printJson(created.value);
    else printText(token);
    printError(
      `Token ${toPrintable(JSON.stringify(name))} (id ${id}): scopes ${granted.join(', ')}; expires ${expiresAt ?? 'never'}.\n` +
        'It is shown this once. Clients send it as "Authorization: Bearer <token>".',
    );
    return created;
  });
}

/** `assay token list`: all tokens ever created, without their secrets. */
export function listTokens(runtime: Runtime, options: TokenOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const tokens = await tokensOf(api);
    if (!tokens.ok) return tokens;
    if (options.json === true) printJson({ tokens: tokens.value });
    else print(formatTable(['NAME', 'ID', 'STATE', 'CREATED', 'EXPIRES', 'SCOPES'], tokens.value.map(row)));
    for (const { id, name, state } of tokens.value) {
      const fault = state === 'valid' ? findTokenNameFault(name) : undefined;
      if (fault !== undefined)
        printError(`note: the name of the token ${id} is from an earlier version: ${fault}. ${REPLACE}`);
    }
    if (tokens.value.length === 0)
      printError('There are no tokens. Create one with `assay token create NAME`.');
    return tokens;
  });
}

const REPLACE = 'Create another token and revoke this one.';

function tokensOf(api: Api): Promise<Result<readonly Token[], CodedProblem>> {
  return listAll(api, '/tokens', { name: 'tokens' });
}

/** The id of a token given by its id, its name or itself. Names may be those of revoked tokens too. TOKEN_UNKNOWN */
export async function findToken(api: Api, what: string): Promise<Result<Token, CodedProblem | Refusal>> {
  const tokens = await tokensOf(api);
  if (!tokens.ok) return tokens;
  const id = parseToken(what)?.id ?? what;
  const candidates = tokens.value.filter((one) => [one.id, one.name].includes(id));
  const found =
    candidates.find((one) => one.id === id) ??
    candidates.find(({ state }) => state === 'valid') ??
    candidates.find(({ state }) => state !== 'revoked');
  return found === undefined ? err({ code: 'TOKEN_UNKNOWN', name: id }) : ok(found);
}

/** `assay token revoke`: takes effect at once, even in a running Assay. */
export function revokeToken(runtime: Runtime, what: string, options: TokenOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const found = await findToken(api, what);
    if (!found.ok) return found;
    const { id, name } = found.value;
    const revoked = await api.send({ method: 'DELETE', path: apiPath`/tokens/${id}` });
    if (!revoked.ok) return revoked;
    if (options.json !== true) print(`Revoked ${toPrintable(JSON.stringify(name))} (id ${id}).`);
    else {
      const now = await findToken(api, id);
      if (!now.ok) return now;
      printJson(now.value);
    }
    return revoked;
  });
}

/** `assay token link`: only the link on stdout. */
export function createLink(runtime: Runtime, options: LinkOptions): Promise<number> {
  const { url, json } = options;
  return withApi(runtime, options, async (api) => {
    const body = url === undefined ? {} : { url };
    const link = await api.send<{ readonly url: string }>({ method: 'POST', path: '/sign-in-links', body });
    if (!link.ok) return link;
    if (json === true) printJson(link.value);
    else printText(link.value.url);
    printError('Open it in a browser within 10 minutes. It signs in once, with the scope admin.');
    return link;
  });
}

function row({ id, name, scopes, createdAt, expiresAt, state }: Token): readonly string[] {
  const colour = state === 'valid' ? style.green : style.red;
  return [name, id, colour(state), createdAt, expiresAt ?? 'never', scopes.join(', ')];
}
