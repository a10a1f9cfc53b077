import { Command } from 'commander';
import type { AppOptions } from '../../core/command-options.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import { LOCAL_USER } from '../../core/subject.ts';
import type { VerifyOptions } from '@assay-mcp/kit/verification/verifier';
import { addVerifyOptions, parsePairs } from '@assay-mcp/kit/platform/terminal/options';
import { printError } from '@assay-mcp/kit/platform/terminal/print';
import { openOrFetch } from './ask.ts';
import { type Done, withConfig } from './common-options.ts';
import { printRefusal } from './output.ts';
import type { Runtime } from './runtime.ts';

/** `assay verify SERVER` and `assay verify -- COMMAND ARG…`. */
export function verifyCommand(runtime: Runtime, done: Done, argv: readonly string[]): Command {
  const command = new Command('verify')
    .usage('[options] <server>\n       assay verify [options] -- <command> [args...]')
    .argument(
      '<server...>',
      'a server of Assay, whose verdicts are kept, or `--` followed by a command; {seed} in it is replaced by the folder of the seed data',
    )
    .description('call the tools of a server in a sandbox and compare what they do with their hints')
    .option(
      '--recorded',
      'also call tools of a server with the arguments of recorded calls, with secrets masked; the setting activity.arguments controls whether they are recorded',
    )
    .action(async (words: readonly string[], options: ServerVerifyOptions) =>
      done(await (argv.includes('--') ? verifyWords : verifyServer)(runtime, words, options)),
    );
  return withConfig(addVerifyOptions(command));
}

interface ServerVerifyOptions extends AppOptions, VerifyOptions {
  readonly recorded?: boolean;
}

function printWrong(reason: string): number {
  return printRefusal({ code: 'ARGUMENTS_INVALID', reason });
}

/** Verifies a command. */
async function verifyWords(
  runtime: Runtime,
  command: readonly string[],
  options: ServerVerifyOptions,
): Promise<number> {
  if (options.recorded === true)
    return printWrong('--recorded is for servers; calls of a command are not recorded');
  const env = parsePairs('--env', options.env ?? [], '=');
  if (!env.ok) return printRefusal(env.error);
  const verifier = await openOrFetch(runtime, options, () => runtime.openVerifier(options));
  if (!verifier.ok) return printRefusal(verifier.error);
  const target = { command, cwd: process.cwd(), env: env.value };
  return verifier.value.runVerification({ program: 'assay', target }, options);
}

/** Verifies a server of the config or the store, and keeps the verdicts in the store. */
async function verifyServer(
  runtime: Runtime,
  [name = '', ...more]: readonly string[],
  options: ServerVerifyOptions,
): Promise<number> {
  if (more.length > 0) return printWrong('to verify a command, write `assay verify -- COMMAND ARGUMENTS`');
  if (options.env !== undefined) return printWrong('--env is for commands; a server has its own variables');
  const verifier = await openOrFetch(runtime, options, () => runtime.openVerifier(options));
  if (!verifier.ok) return printRefusal(verifier.error);
  const opened = await runtime.openServices(options);
  if (!opened.ok) return printRefusal(opened.error);
  const { verifications, close } = opened.value;
  try {
    const found = verifications.server(name);
    if (!found.ok) return printRefusal(found.error);
    const { spec, target } = found.value;
    const recorded = options.recorded === true ? await verifications.recorded(spec) : undefined;
    if (recorded?.ok === false) return printRefusal(recorded.error);
    if (recorded?.value.size === 0)
      printError(
        toPrintable(
          `warning: no arguments of calls of ${JSON.stringify(name)} are recorded. Set activity.arguments to "masked" and call its tools.`,
        ),
      );
    return await verifier.value.runVerification(
      {
        ...{ program: 'assay', target, recorded: recorded?.value },
        keep: async (report) => {
          const kept = await verifications.record(spec, report, LOCAL_USER.subject);
          return kept.ok ? undefined : printRefusal(kept.error);
        },
      },
      options,
    );
  } finally {
    await close();
  }
}
