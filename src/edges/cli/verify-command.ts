import { Command, InvalidArgumentError, Option } from 'commander';
import { type Done, withConfig } from './common-options.ts';
import type { Runtime } from './runtime.ts';
import type { VerifyOptions } from './verify.ts';

/** `assay verify SERVER` and `assay verify -- COMMAND ARG…`; `isCommand`: the command line has a `--`. */
export function verifyCommand(runtime: Runtime, done: Done, isCommand: boolean): Command {
  const command = new Command('verify')
    .usage('[options] <server>\n       assay verify [options] -- <command> [args...]')
    .argument(
      '<server...>',
      'a server of Assay, whose verdicts are kept, or `--` followed by a command; {seed} in it is replaced by the folder of the seed data',
    )
    .description('call the tools of a server in a sandbox and compare what they do with their hints')
    .option('--tool <name...>', 'verify only these tools')
    .option('--env <name=value...>', 'variables for the command')
    .option(
      '--fixtures <file>',
      'arguments, seed data and tools never to call (default: assay-verify.json, if it exists)',
    )
    .option(
      '--recorded',
      'also call tools of a server with the arguments of recorded calls, with secrets masked; the setting activity.arguments controls whether they are recorded',
    )
    .option('--init', 'write a fixtures file to fill in, instead of verifying')
    .option('--baseline <file>', 'accept the contradictions that this file lists with a reason')
    .option('--sets <number>', 'different arguments per tool', whole, 3)
    .option('--repeats <number>', 'equal calls with each of them, at least 2', whole, 5)
    .option('--call-limit <seconds>', 'time limit for one call', whole, 10)
    .option('--time-limit <seconds>', 'time limit for the whole run', whole, 600)
    .addOption(
      new Option('--format <format>', 'format of stdout').choices([
        'table',
        'json',
        'sarif',
        'junit',
        'markdown',
      ]),
    )
    .option('--json', 'the same as --format json')
    .action(async (words: readonly string[], options: VerifyOptions) => {
      const { verify } = await import('./verify.ts');
      done(await verify(runtime, { words, isCommand }, options));
    });
  return withConfig(command);
}

function whole(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('Write a whole number above 0.');
  return Number(text);
}
