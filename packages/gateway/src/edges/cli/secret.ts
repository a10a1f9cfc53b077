import { Command } from 'commander';
import type { Secret, SecretInput, SecretList, SecretWanted } from '../../api/secret.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import { type Refusal, toArgumentRefusal } from '../../core/refusal.ts';
import { findSecretNameFault } from '../../core/secrets/value-reference.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { MIN_SECRET_LENGTH } from '../../core/secrets/secrets.ts';
import type { CodedProblem } from '../../api/problem.ts';
import type { Api } from './api.ts';
import { askHidden, confirm, isInteractive } from './ask.ts';
import { type Done, withConfig, type JsonOptions } from './common-options.ts';
import {
  formatProse,
  formatTable,
  print,
  printError,
  printJson,
} from '@assay-mcp/kit/platform/terminal/print';
import type { Runtime } from './runtime.ts';
import { apiPath, sendAndPrint, withApi } from './with-api.ts';

/** `assay secret` with its subcommands. */
export function secretCommand(runtime: Runtime, done: Done): Command {
  const secret = new Command('secret').description('store values that entries refer to as ${secret:NAME}');
  const commands = [
    new Command('set')
      .argument('<name>')
      .description('store a value, asked without echo or read from stdin')
      .option('--server <name...>', 'servers that may use it')
      .action(async (name: string, options: SetOptions) => done(await setSecret(runtime, name, options))),
    new Command('allow')
      .argument('<name>')
      .argument('<server>')
      .description('let a server use it, as long as its command or origin stays the same')
      .option('--yes', 'allow it without asking')
      .action(async (name: string, server: string, options: AllowOptions) =>
        done(await allowServer(runtime, { name, server }, options)),
      ),
    new Command('list')
      .description('list the secrets and who may use them, without their values')
      .action(async (options: JsonOptions) => done(await listSecrets(runtime, options))),
    new Command('remove')
      .argument('<name>')
      .description('remove a secret')
      .action(async (name: string, options: JsonOptions) => done(await removeSecret(runtime, name, options))),
  ];
  for (const one of commands) secret.addCommand(withConfig(one).option('--json', 'print JSON'));
  return secret;
}

interface SetOptions extends JsonOptions {
  readonly server?: readonly string[];
}

interface AllowOptions extends JsonOptions {
  readonly yes?: boolean;
}

/** `assay secret set`: never takes the value as an argument, which other users of the machine could read. */
function setSecret(runtime: Runtime, name: string, options: SetOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const fault = toArgumentRefusal('NAME', findSecretNameFault(name));
    const value = fault === undefined ? await readValue(name) : err(fault);
    if (!value.ok) return value;
    const set = await storeSecret(api, name, { value: value.value, servers: options.server ?? [] });
    if (!set.ok) return set;
    const allowed = await allowWaiting(api, set.value, options);
    if (!allowed.ok) return allowed;
    if (options.json === true) printJson(allowed.value);
    else print(formatProse(formatStored(allowed.value)));
    if (value.value.length < MIN_SECRET_LENGTH)
      printError(
        `note: values of fewer than ${MIN_SECRET_LENGTH} characters are not masked in logs and answers.`,
      );
    return allowed;
  });
}

export function storeSecret(
  api: Api,
  name: string,
  body: SecretInput,
): Promise<Result<Secret, CodedProblem>> {
  return api.send<Secret>({ method: 'PUT', path: apiPath`/secrets/${name}`, body });
}

/** Asks for each server that refers to it, if there is somebody to ask. */
async function allowWaiting(
  api: Api,
  secret: Secret,
  { json }: JsonOptions,
): Promise<Result<Secret, CodedProblem>> {
  if (json === true || !isInteractive()) return ok(secret);
  const allowed: SecretWanted[] = [];
  for (const one of secret.refused)
    if (await confirm(formatAllowQuestion(secret.name, one), 'yes')) allowed.push(one);
  return allowed.length === 0 ? ok(secret) : allowUse(api, secret.name, allowed);
}

/** Lets servers use a secret, unless they have changed since they were shown. */
export function allowUse(
  api: Api,
  name: string,
  shown: readonly SecretWanted[],
): Promise<Result<Secret, CodedProblem>> {
  const identities = Object.fromEntries(shown.map(({ server, identity }) => [server, identity]));
  return storeSecret(api, name, { servers: shown.map(({ server }) => server), identities });
}

export function formatAllowQuestion(
  name: string,
  { server, what }: { readonly server: string; readonly what: string },
): string {
  return toPrintable(`May ${server} use the secret ${name}? It is given to: ${what}`);
}

function formatStored({ name, uses, refused }: Secret): string {
  const users = uses.filter(({ isCurrent }) => isCurrent).map(({ server }) => server);
  const by = users.length === 0 ? 'No server may use it yet.' : `${users.join(', ')} may use it.`;
  const waiting = refused.map(({ server }) => `\`assay secret allow ${name} ${server}\``);
  const next =
    waiting.length === 0 ? '' : ` To let a server that refers to it use it: ${waiting.join(', ')}.`;
  return toPrintable(`Stored the secret ${name}. ${by}${next}`);
}

/** More than a value may have. */
const MAX_INPUT_BYTES = 65_537;

async function readValue(name: string): Promise<Result<string, Refusal>> {
  if (process.stdin.isTTY) {
    if (!isInteractive())
      return err({
        code: 'ARGUMENTS_INVALID',
        reason: 'there is no terminal to ask on; write the value to stdin',
      });
    const typed = await askHidden(toPrintable(`Value of ${name} (not shown):`));
    return typed === undefined || typed === '' ? err({ code: 'CANCELLED' }) : ok(typed);
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    const part = Buffer.from(chunk as Buffer | string);
    chunks.push(part);
    bytes += part.length;
    if (bytes > MAX_INPUT_BYTES) break;
  }
  const text = Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  return text === '' ? err({ code: 'ARGUMENTS_INVALID', reason: 'stdin holds no value' }) : ok(text);
}

interface Allowed {
  readonly name: string;
  readonly server: string;
}

/** `assay secret allow` */
function allowServer(runtime: Runtime, { name, server }: Allowed, options: AllowOptions): Promise<number> {
  return withApi(runtime, options, async (api): Promise<Result<unknown, CodedProblem | Refusal>> => {
    const listed = await api.send<SecretList>({ method: 'GET', path: '/secrets' });
    if (!listed.ok) return listed;
    const wanted = listed.value.secrets
      .find((one) => one.name === name)
      ?.refused.find((one) => one.server === server);
    const question = wanted && formatAllowQuestion(name, wanted);
    if (question !== undefined && options.yes !== true) {
      if (!isInteractive())
        return err({
          code: 'ARGUMENTS_INVALID',
          reason: `there is no terminal to ask on; --yes allows it (${question})`,
        });
      if (!(await confirm(question))) return err({ code: 'CANCELLED' });
    }
    const set = await (wanted === undefined
      ? storeSecret(api, name, { servers: [server] })
      : allowUse(api, name, [wanted]));
    if (!set.ok) return set;
    if (options.json === true) printJson(set.value);
    else print(toPrintable(`${server} may use ${name}, as long as its command or origin stays the same.`));
    return set;
  });
}

/** `assay secret list` */
function listSecrets(runtime: Runtime, options: JsonOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const listed = await api.send<SecretList>({ method: 'GET', path: '/secrets' });
    if (!listed.ok) return listed;
    const { secrets, missing } = listed.value;
    if (options.json === true) printJson(listed.value);
    else print(formatTable(['NAME', 'SAVED', 'SERVERS'], secrets.map(toRow)));
    for (const { name, server } of missing)
      printError(
        toPrintable(`${server} needs the secret ${name}: assay secret set ${name} --server ${server}`),
      );
    for (const { name, refused } of secrets)
      for (const { server } of refused)
        printError(toPrintable(`${server} may not use ${name} yet: assay secret allow ${name} ${server}`));
    return listed;
  });
}

function toRow({ name, savedAt, uses }: Secret): readonly string[] {
  const servers = uses.map(({ server, isCurrent }) => (isCurrent ? server : `${server} (changed or gone)`));
  return [name, savedAt.slice(0, 10), servers.join(', ')];
}

/** `assay secret remove` */
function removeSecret(runtime: Runtime, name: string, options: JsonOptions): Promise<number> {
  return sendAndPrint(
    runtime,
    options,
    { method: 'DELETE', path: apiPath`/secrets/${name}` },
    {
      say: () => print(toPrintable(`Removed the secret ${name}.`)),
    },
  );
}
