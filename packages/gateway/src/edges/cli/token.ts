import { Command } from 'commander';
import type { NewToken, Token, TokenPreferenceList, TokenPreferenceChanges } from '../../api/token.ts';
import { toPrintable, toWords } from '@assay-mcp/kit/printable';
import { DEFAULT_TOKEN_LIFETIME } from '@assay-mcp/kit/token-lifetimes';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { parseToken, findTokenNameFault } from '../../core/token.ts';
import type { CodedProblem } from '../../api/problem.ts';
import { isTokenPreference, TOKEN_PREFERENCES } from '../../core/policy/token-preferences.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import { parsePreference } from '../../gateway/services/preferences/preference-service.ts';
import { type Done, withConfig, withHome, type JsonOptions } from './common-options.ts';
import type { Api } from './api.ts';
import {
  print,
  printError,
  printJson,
  printText,
  style,
  formatTable,
} from '@assay-mcp/kit/platform/terminal/print';
import { printRefusal } from './output.ts';
import type { Runtime } from './runtime.ts';
import { apiPath, listAll, withApi } from './with-api.ts';

/** `assay token` with its subcommands. */
export function tokenCommand(runtime: Runtime, done: Done): Command {
  const token = new Command('token').description('create, list and revoke client tokens');
  const create = new Command('create')
    .argument('<name>')
    .description('create a token and print it to stdout; it is shown only once')
    .option('--scopes <list>', 'comma-separated scopes: admin, execute, read, mcp (default: mcp)')
    .option(
      '--expires <time>',
      'lifetime such as 90m, 12h, 30d or 4w; never: until revoked',
      DEFAULT_TOKEN_LIFETIME,
    )
    .action(async (name: string, options: CreateTokenOptions) =>
      done(await createToken(runtime, name, options)),
    );
  const list = new Command('list')
    .description('list all tokens, without their secrets')
    .action(async (options: TokenOptions) => done(await listTokens(runtime, options)));
  const revoke = new Command('revoke')
    .argument('<name-or-id>')
    .description('revoke a token immediately')
    .action(async (what: string, options: TokenOptions) => done(await revokeToken(runtime, what, options)));
  const link = new Command('link')
    .description('print a link that signs one browser in to the admin pages, once, within 10 minutes')
    .option(
      '--scopes <list>',
      'scopes of the session: admin, execute; with execute it ends after an hour (default: admin)',
    )
    .option(
      '--url <url>',
      'address at which your browser reaches Assay (default: the `assay serve` of this home)',
    )
    .action(async (options: LinkOptions) => done(await createLink(runtime, options)));
  const preferences = withConfig(new Command('preferences'))
    .argument('<name-or-id>', 'the token, or local for stdio, the command line and access without a token')
    .argument('[change...]', 'a preference and its value: policy.confirm never; "default" resets it')
    .description('show the preferences for calls with a token, or set one of them')
    .option('--json', 'print JSON')
    .action(async (name: string, change: readonly string[], options: TokenOptions) =>
      done(await showTokenPreferences(runtime, { token: name, change }, options)),
    );
  for (const command of [create, list, revoke, link])
    token.addCommand(withHome(command).option('--json', 'print JSON'));
  token.addCommand(preferences);
  return token;
}

interface TokenOptions {
  readonly home?: string;
  readonly json?: boolean;
}

interface LinkOptions extends TokenOptions {
  readonly url?: string;
  readonly scopes?: string;
}

interface CreateTokenOptions extends TokenOptions {
  readonly scopes?: string;
  readonly expires: string;
}

/** `assay token create`: only the token on stdout, for use as `$(assay token create ci)`; details on stderr. */
function createToken(runtime: Runtime, name: string, options: CreateTokenOptions): Promise<number> {
  const { expires, json } = options;
  const scopes = (options.scopes ?? 'mcp').split(',').map((one) => one.trim());
  const body = { name, scopes, ...(expires !== 'never' && { expiresIn: expires }) };
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
function listTokens(runtime: Runtime, options: TokenOptions): Promise<number> {
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
async function findToken(api: Api, what: string): Promise<Result<Token, CodedProblem | Refusal>> {
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
function revokeToken(runtime: Runtime, what: string, options: TokenOptions): Promise<number> {
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
function createLink(runtime: Runtime, options: LinkOptions): Promise<number> {
  const { url, scopes, json } = options;
  return withApi(runtime, options, async (api) => {
    const body = {
      ...(url !== undefined && { url }),
      ...(scopes !== undefined && { scopes: scopes.split(',').map((one) => one.trim()) }),
    };
    const link = await api.send<{ readonly url: string }>({ method: 'POST', path: '/sign-in-links', body });
    if (!link.ok) return link;
    if (json === true) printJson(link.value);
    else printText(link.value.url);
    const granted = scopes?.includes('execute') === true ? EXECUTE_SESSION : 'with the scope admin';
    printError(`Open it in a browser on this machine within 10 minutes. It signs in once, ${granted}.`);
    return link;
  });
}

const EXECUTE_SESSION = 'with the scopes admin and execute, for an hour';

function row({ id, name, scopes, createdAt, expiresAt, state }: Token): readonly string[] {
  const colour = state === 'valid' ? style.green : style.red;
  return [name, id, colour(state), createdAt, expiresAt ?? 'never', scopes.join(', ')];
}

interface PreferenceArguments {
  readonly token: string;
  /** A preference and its new value, or empty. */
  readonly change: readonly string[];
}

/** `assay token preferences NAME [KEY VALUE]`: shows the preferences for calls with a token, or changes one. */
async function showTokenPreferences(
  runtime: Runtime,
  { token, change }: PreferenceArguments,
  options: JsonOptions,
): Promise<number> {
  const changes = changesIn(change);
  if (!changes.ok) return printRefusal(changes.error);
  return withApi(runtime, options, async (api) => {
    const found = token === LOCAL_USER.subject ? ok({ id: token }) : await findToken(api, token);
    if (!found.ok) return found;
    const path = apiPath`/tokens/${found.value.id}/preferences`;
    const viewed = await api.send<TokenPreferenceList>(
      change.length === 0 ? { method: 'GET', path } : { method: 'PATCH', path, body: changes.value },
    );
    if (!viewed.ok) return viewed;
    if (options.json === true) printJson(viewed.value);
    else
      print(
        formatTable(
          ['PREFERENCE', 'VALUE', 'FROM'],
          viewed.value.preferences.map((one) => [one.key, String(one.value), toWords(one.origin)]),
        ),
      );
    return viewed;
  });
}

/** `default` returns to the value of the instance. ARGUMENTS_INVALID, SETTING_INVALID */
function changesIn(change: readonly string[]): Result<TokenPreferenceChanges, Refusal> {
  const [key, text, ...more] = change;
  if (key === undefined) return ok({});
  if (!isTokenPreference(key))
    return err({
      code: 'ARGUMENTS_INVALID',
      reason: `a token has no preference ${JSON.stringify(key)}; there are ${TOKEN_PREFERENCES.join(', ')}`,
    });
  if (text === undefined || more.length > 0)
    return err({ code: 'ARGUMENTS_INVALID', reason: `give one value of ${key}, or "default"` });
  const value = text === 'default' ? ok(null) : parsePreference(key, text);
  return value.ok ? ok({ [key]: value.value }) : value;
}
