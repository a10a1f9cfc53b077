import { type Command, InvalidArgumentError, Option } from 'commander';
import { err, ok, type Result } from '../../result.ts';

/** Adds the options of a verification, for `assay verify` and `assay-verify`. */
export function addVerifyOptions(command: Command): Command {
  return command
    .option('--tool <name...>', 'verify only these tools')
    .option('--env <name=value...>', 'variables for the command')
    .option(
      '--fixtures <file>',
      'arguments, seed data and tools never to call (default: assay-verify.json, if it exists)',
    )
    .option('--init', 'write a fixtures file to fill in, instead of verifying')
    .option('--baseline <file>', 'accept the contradictions that this file lists with a reason')
    .option('--sets <number>', 'different arguments per tool', parsePositive, 3)
    .option('--repeats <number>', 'equal calls with each of them, at least 2', parsePositive, 5)
    .option('--call-limit <seconds>', 'time limit for one call', parsePositive, 10)
    .option('--time-limit <seconds>', 'time limit for the whole run', parsePositive, 600)
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
    .option(
      '--report <file...>',
      'also write the report to these files, in the format of their endings: .json, .sarif, .xml (JUnit), .md',
    );
}

function parsePositive(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('Write a whole number above 0.');
  return Number(text);
}

/** Parses `name: value` or `NAME=value` pairs into an object. */
export function parsePairs(
  option: string,
  given: readonly string[],
  separator: ':' | '=',
): Result<Readonly<Record<string, string>>, { readonly code: 'ARGUMENTS_INVALID'; readonly reason: string }> {
  const pairs: (readonly [string, string])[] = [];
  for (const text of given) {
    const at = text.indexOf(separator);
    // The error does not repeat the input: it may be a secret.
    if (at < 1)
      return err({ code: 'ARGUMENTS_INVALID', reason: `${option}: write it as name${separator}value` });
    pairs.push([text.slice(0, at).trim(), text.slice(at + 1).trim()]);
  }
  return ok(Object.fromEntries(pairs));
}
