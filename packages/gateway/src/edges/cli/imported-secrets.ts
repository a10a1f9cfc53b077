import { setTimeout as pause } from 'node:timers/promises';
import type { SecretList } from '../../api/secret.ts';
import type { ImportReport } from '../../core/client-configs.ts';
import type { AppOptions } from '../../core/command-options.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { Refusal } from '../../core/refusal.ts';
import type { CodedProblem } from '../../api/problem.ts';
import type { Api } from './api.ts';
import { askHidden, confirm, isInteractive } from './ask.ts';
import { printError } from '@assay-mcp/kit/platform/terminal/print';
import type { ClientConfigPorts } from './runtime.ts';
import { formatAllowQuestion, storeSecret } from './secret.ts';

/** A secret for copied entries. Without a value, the stored one is used. */
export interface ImportedSecret {
  readonly name: string;
  readonly value: string | undefined;
  readonly servers: readonly string[];
}

/**
 * Asks without echo for the variables that copied entries need and that are not set, such as `${input:…}` of VS Code.
 * Asks nothing without a terminal.
 */
export async function askSecrets(
  runtime: Pick<ClientConfigPorts, 'openApi'>,
  report: ImportReport,
  options: AppOptions,
): Promise<Result<readonly ImportedSecret[], CodedProblem>> {
  const needed = listNeeded(report);
  if (needed.size === 0 || !isInteractive()) return ok([]);
  const listed = await withOwnApi(runtime, options, (api) =>
    api.send<SecretList>({ method: 'GET', path: '/secrets' }),
  );
  if (!listed.ok) return listed;
  const stored = new Set(listed.value.secrets.map(({ name }) => name));
  const secrets: ImportedSecret[] = [];
  for (const [name, { about, servers }] of needed) {
    const names = servers.map((server) => server.name);
    if (stored.has(name)) {
      const what = servers.map((server) => server.what).join('; ');
      const question = formatAllowQuestion(name, { server: names.join(', '), what });
      if (await confirm(question)) secrets.push({ name, value: undefined, servers: names });
      continue;
    }
    const purpose = about === undefined ? '' : ` (${about})`;
    const targets = servers.map((server) => `${server.name} (${server.what})`).join(', ');
    const question = `${name}${purpose} goes to ${targets}. Value (not shown; Enter to skip):`;
    const value = await askHidden(toPrintable(question));
    if (value === undefined || value === '') printError(toPrintable(`${name} is not set.`));
    else secrets.push({ name, value, servers: names });
  }
  return ok(secrets);
}

interface Needed {
  readonly about: string | undefined;
  readonly servers: readonly { readonly name: string; readonly what: string }[];
}

function listNeeded({ servers }: ImportReport): ReadonlyMap<string, Needed> {
  const needed = new Map<string, Needed>();
  for (const { importedAs, what, outcome, isDisabled, variables } of servers) {
    if ((outcome !== 'copied' && outcome !== 'replaced') || isDisabled) continue;
    for (const { name, about, canBeSecret } of variables) {
      if (!canBeSecret) continue;
      const former = needed.get(name);
      const users = [...(former?.servers ?? []), { name: importedAs, what }];
      needed.set(name, { about: former?.about ?? about, servers: users });
    }
  }
  return needed;
}

/** A running gateway reads the config file a moment after it was written. */
const MAX_TRIES = 40;
const WAIT_MS = 250;

/** Stores secrets, and lets the copied entries use them as soon as the gateway has read them. */
export async function storeImportedSecrets(
  runtime: Pick<ClientConfigPorts, 'openApi' | 'readIdentities'>,
  secrets: readonly ImportedSecret[],
  options: AppOptions,
): Promise<Result<undefined, CodedProblem | Refusal>> {
  if (secrets.length === 0) return ok(undefined);
  const identities = await runtime.readIdentities(options);
  if (!identities.ok) return identities;
  return withOwnApi(runtime, options, async (api) => {
    for (const { name, value, servers } of secrets) {
      if (value !== undefined) {
        const stored = await storeSecret(api, name, { value });
        if (!stored.ok) return stored;
      }
      for (const server of servers) {
        const identity = identities.value.get(server);
        const allowed = await allowCopied(api, name, { server, identity });
        if (!allowed.ok) return allowed;
      }
    }
    return ok(undefined);
  });
}

interface CopiedServer {
  readonly server: string;
  /** Of the entry that was copied. Undefined: the config file lacks it now. */
  readonly identity: string | undefined;
}

/** Until the gateway has read the file, it has a former entry of that name, or none. */
async function allowCopied(
  api: Api,
  name: string,
  { server, identity }: CopiedServer,
): Promise<Result<unknown, CodedProblem>> {
  for (let tries = 1; identity !== undefined && tries <= MAX_TRIES; tries += 1) {
    if (tries > 1) await pause(WAIT_MS);
    const allowed = await storeSecret(api, name, { servers: [server], identities: { [server]: identity } });
    if (allowed.ok || !UNREAD.includes(allowed.error.code)) return allowed;
  }
  printError(toPrintable(`${server} may not use ${name} yet: assay secret allow ${name} ${server}`));
  return ok(undefined);
}

const UNREAD: readonly string[] = ['SERVER_UNKNOWN', 'SERVER_CHANGED'];

async function withOwnApi<T, E>(
  runtime: Pick<ClientConfigPorts, 'openApi'>,
  options: AppOptions,
  work: (api: Api) => Promise<Result<T, E>>,
): Promise<Result<T, E>> {
  const api = await runtime.openApi(options, printError);
  try {
    return await work(api);
  } finally {
    await api.close();
  }
}
