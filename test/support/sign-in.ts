import { spawn } from 'node:child_process';
import { cleanEnv, watch, type Watched } from './assay.ts';
import { browse } from './browser.ts';
import { startCommand, type CommandResult } from './commands.ts';
import { endLater, until } from './endings.ts';
import { send } from './http.ts';
import { MAIN } from './paths.ts';

export interface SignInOptions {
  readonly config: string;
  readonly home: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Config that allows loopback, for a server and an issuer on two local ports. */
export const LOCAL_ISSUER = { settings: { 'http.allowLoopback': true } } as const;

/** A running `assay auth`, with the address that it printed. */
export interface SignIn extends Watched {
  readonly address: string;
  paste(line: string): void;
  /** Closes its stdin: nothing will be pasted. */
  hangUp(): void;
}

/** Starts `assay auth SERVER` without a browser. */
export async function startSignIn(server: string, options: SignInOptions): Promise<SignIn> {
  const child = spawn(process.execPath, [MAIN, ...argsOf(server, options)], {
    env: cleanEnv(options.env),
    stdio: 'pipe',
  });
  const watched = watch(child);
  endLater(async () => {
    await watched.stop();
  });
  const address = await until(
    () => `assay auth tells an address; stderr: ${watched.stderr()}`,
    () => {
      if (watched.hasEnded()) throw new Error(`assay auth ended:\n${watched.stderr()}`);
      return addressIn(watched.stderr());
    },
  );
  return {
    ...watched,
    address,
    paste: (line) => child.stdin.write(`${line}\n`),
    hangUp: () => child.stdin.end(),
  };
}

/** Signs in as a user with a browser would; returns the command's result. */
export async function signIn(server: string, options: SignInOptions): Promise<CommandResult> {
  const command = startCommand(argsOf(server, options), options.env && { env: options.env });
  const address = await until(
    () => `assay auth tells an address; stderr: ${command.stderr()}`,
    () => addressIn(command.stderr()),
  );
  await send(await browse(address), { method: 'GET' });
  return command.ended;
}

function argsOf(server: string, { config, home, args = [] }: SignInOptions): readonly string[] {
  return ['auth', server, '--config', config, '--home', home, '--no-browser', ...args];
}

function addressIn(said: string): string | undefined {
  return /^ {2}(https?:\/\/\S+)$/m.exec(said)?.[1];
}
