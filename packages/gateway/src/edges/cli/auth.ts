import process from 'node:process';
import { Command } from 'commander';
import { createInterface } from 'node:readline';
import { EXIT } from '../../core/errors.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import type { ShownCredential, SignInStep } from '../../gateway/ports/credentials.ts';
import type { AppOptions } from '../../core/command-options.ts';
import { type Done, withConfig } from './common-options.ts';
import { print, printError, printJson, style, formatTable } from '@assay-mcp/kit/platform/terminal/print';
import { printRefusal } from './output.ts';
import type { Runtime } from './runtime.ts';

/** `assay auth`: sign-ins at remote servers. */
export function authCommand(runtime: Runtime, done: Done): Command {
  return withConfig(new Command('auth'))
    .argument('[server]', 'name of a server in the config')
    .description('sign in to a remote server, or list and remove sign-ins')
    .option('--list', 'list all sign-ins, without secrets')
    .option('--forget', 'remove the sign-in to this server and revoke it at its issuer')
    .option(
      '--subject <name>',
      'name of the token to sign in for, if each token signs in separately',
      'local',
    )
    .option('--explain', 'sign in, and print each request with its response, without secrets')
    .option('--no-browser', 'print the sign-in URL, and read the final redirect URL from stdin')
    .option('--json', 'print JSON')
    .action(async (server: string | undefined, options: AuthOptions) =>
      done(await authorize(runtime, server, options)),
    );
}

interface AuthOptions extends AppOptions {
  readonly list?: boolean;
  readonly forget?: boolean;
  readonly explain?: boolean;
  readonly subject: string;
  readonly browser: boolean;
  readonly json?: boolean;
}

/** Time limit in ms for a sign-in. */
const SIGN_IN_LIMIT_MS = 300_000;

/** `assay auth`: results on stdout; the sign-in address and instructions on stderr. */
async function authorize(
  runtime: Runtime,
  server: string | undefined,
  options: AuthOptions,
): Promise<number> {
  if (options.list === true) return listSignIns(runtime, options);
  if (server === undefined)
    return printRefusal({
      code: 'ARGUMENTS_INVALID',
      reason: 'name a server of the config, or use --list',
    });
  return options.forget === true ? signOut(runtime, server, options) : signIn(runtime, server, options);
}

async function signIn(runtime: Runtime, server: string, options: AuthOptions): Promise<number> {
  // The user can paste an address at a terminal, or asked for that with --no-browser.
  const isAnswered = process.stdin.isTTY || !options.browser;
  const steps: SignInStep[] = [];
  const onStep = (step: SignInStep): void => {
    steps.push(step);
    if (options.json !== true) print(formatStep(step, steps.length));
  };
  const done = await runtime.signIn(
    {
      server,
      subject: options.subject,
      opensBrowser: options.browser && runtime.hasBrowser(),
      limitMs: SIGN_IN_LIMIT_MS,
      onAddress: (address, issuer, isOpened) => printAddress({ address, issuer, isOpened, isAnswered }),
      acceptsPasted: isAnswered,
      pasted: (signal) => (isAnswered ? firstLine(signal) : Promise.resolve(undefined)),
      ...(options.explain === true && { onStep }),
    },
    options,
  );
  const explained = options.explain === true && { steps };
  if (!done.ok) {
    if (options.json === true && options.explain === true) printJson(explained);
    return printRefusal(done.error);
  }
  const { issuer, subject, expiresMs } = done.value;
  if (options.json === true) printJson({ ...toCredentialJson(done.value), ...explained });
  else
    print(
      toPrintable(
        `Signed in at ${JSON.stringify(server)} as ${JSON.stringify(subject)} (${issuer}); ${endOf(done.value)}.`,
      ),
    );
  if (expiresMs !== undefined && done.value.state === 'valid')
    printError('The issuer gave no refresh token, so you must sign in again after that.');
  return EXIT.done;
}

/** One step of `--explain` on a few lines. */
function formatStep(step: SignInStep, number: number): string {
  const { method, url, sent, status, type, challenge, location, received, fault } = step;
  const answers: readonly (readonly [string, string | undefined])[] = [
    [
      'HTTP',
      status === undefined ? undefined : [status, type].filter((part) => part !== undefined).join(' '),
    ],
    ['WWW-Authenticate:', challenge],
    ['Location:', location],
    ['body:', received],
    ['no answer:', fault],
  ];
  const lines = [
    `${number}. ${method} ${url}`,
    ...Object.entries(sent).map(([name, value]) => `   ${name} = ${value}`),
    ...answers.flatMap(([label, text]) => (text === undefined ? [] : [`   <- ${label} ${text}`])),
  ];
  return lines.map(toPrintable).join('\n');
}

function printAddress(given: {
  readonly address: string;
  readonly issuer: string;
  readonly isOpened: boolean;
  readonly isAnswered: boolean;
}): void {
  const { address, issuer, isOpened, isAnswered } = given;
  const what = isOpened
    ? 'The browser was opened to sign in at'
    : 'Open this address in a browser to sign in at';
  printError(`${what} ${toPrintable(issuer)}:\n\n  ${toPrintable(address)}\n`);
  if (isAnswered)
    printError('If the browser cannot reach this machine, paste its final address here and press Enter:');
}

/** The first non-empty line of stdin. Undefined if there is none, or the signal aborts. */
function firstLine(signal: AbortSignal): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin });
  return new Promise((resolve) => {
    const end = (line?: string): void => {
      resolve(line);
      lines.close();
      process.stdin.destroy();
    };
    signal.addEventListener('abort', () => end(), { once: true });
    lines.on('line', (line) => {
      if (line.trim() !== '') end(line);
    });
    lines.on('close', () => resolve(undefined));
  });
}

async function listSignIns(runtime: Runtime, options: AuthOptions): Promise<number> {
  const listed = await runtime.signIns(options);
  if (!listed.ok) return printRefusal(listed.error);
  const rows = listed.value.map(toCredentialJson);
  if (options.json === true) printJson({ credentials: rows });
  else
    print(
      formatTable(
        ['SERVER', 'SUBJECT', 'STATE', 'EXPIRES', 'SCOPE', 'ISSUER'],
        rows.map(({ server, subject, state, expiresAt = '', scope = '', issuer }) => [
          server,
          subject,
          GOOD.includes(state) ? style.green(state) : style.red(state),
          expiresAt,
          scope,
          issuer,
        ]),
      ),
    );
  if (rows.length === 0) printError('There are no sign-ins. Sign in with `assay auth SERVER`.');
  return EXIT.done;
}

const GOOD: readonly string[] = ['valid', 'renewable'];

async function signOut(runtime: Runtime, server: string, options: AuthOptions): Promise<number> {
  const { subject } = options;
  const done = await runtime.signOut({ server, subject }, options);
  if (!done.ok) return printRefusal(done.error);
  const { forgotten, isRevoked } = done.value;
  if (options.json === true) printJson({ forgotten: forgotten.map(toCredentialJson), revoked: isRevoked });
  else print(toPrintable(`Forgot ${JSON.stringify(subject)} at ${JSON.stringify(server)}.`));
  if (!isRevoked)
    printError('The issuer did not revoke it: there, the access may remain valid until it expires.');
  return EXIT.done;
}

interface ShownJson {
  readonly server: string;
  readonly issuer: string;
  readonly subject: string;
  readonly state: string;
  readonly scope?: string;
  readonly expiresAt?: string;
}

/** For display and JSON: the time in ISO 8601, absent if there is none. */
function toCredentialJson({ server, issuer, subject, state, scope, expiresMs }: ShownCredential): ShownJson {
  return {
    ...{ server, issuer, subject, state },
    ...(scope !== undefined && { scope }),
    ...(expiresMs !== undefined && { expiresAt: new Date(expiresMs).toISOString() }),
  };
}

function endOf({ state, expiresMs }: ShownCredential): string {
  if (state === 'renewable') return 'it is renewed by itself';
  return expiresMs === undefined ? 'it has no end' : `it ends ${new Date(expiresMs).toISOString()}`;
}
