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
    .option('--explain <tool...>', 'also print each attempt to call these tools, and the answer')
    .option(
      '--write-fixtures <file>',
      'after verifying, write a fixtures file with the arguments that worked, and the tools that still need some',
    )
    .option('--init', 'write a fixtures file to fill in, instead of verifying')
    .option('--baseline <file>', 'accept the contradictions that this file lists with a reason')
    .option(
      '--update-baseline',
      'write the contradictions of this run into the file of --baseline, which is created if it is absent',
    )
    .option(
      '--require-observed [share]',
      'exit with 4 if fewer tools make a successful call: a share such as 80% or 0.8 (default: all)',
      parseShare,
    )
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
        'github',
      ]),
    )
    .option('--json', 'the same as --format json')
    .option(
      '--report <format=file...>',
      'also write the report to this file, `-` for stdout; the format may be left out with the endings .json, .sarif, .xml (JUnit) and .md',
    );
}

function parsePositive(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new InvalidArgumentError('Write a whole number above 0.');
  return Number(text);
}

/** Parses `80%` or `0.8`. */
function parseShare(text: string): number {
  const [, percent, fraction] = /^(?:(\d{1,3})%|(0?\.\d{1,6}|1(?:\.0)?))$/.exec(text) ?? [];
  const share = percent === undefined ? Number(fraction) : Number(percent) / 100;
  if (!(share > 0 && share <= 1)) throw new InvalidArgumentError('Write a share such as 80% or 0.8.');
  return share;
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
