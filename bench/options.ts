import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export const EXTRAS = [
  'start',
  'list',
  'idle',
  'growth',
  'lock',
  'toolsets',
  'hints',
  'policy',
  'sandbox',
  'verify',
  'sources',
  'pages',
  'activity',
  'replicas',
] as const;

export type Extra = (typeof EXTRAS)[number];

export interface Options {
  readonly isQuick: boolean;
  readonly isJson: boolean;
  /** Absolute path to the program of another build of Assay. Undefined if there is none. */
  readonly before: string | undefined;
  readonly wants: (name: string) => boolean;
  /** Whether `--only` names it. */
  readonly names: (name: string) => boolean;
}

const HELP = `npm run bench -- [--quick] [--only NAMES] [--before DIR] [--json]

Measures Assay beside a plain reverse proxy, mcp-proxy and a proxy made of the official SDK.
The table goes to stdout, progress to stderr, and both JSON and Markdown to bench/results/.

  --quick       about two minutes; the numbers are rough
  --only NAMES  some of what is measured, with commas between:
                NAMES_HERE
                nginx and the steps of the ladder are measured only if named
  --before DIR  another checkout of Assay, built, is measured in the same rounds:
                before-http and before-stdio
  --json        the JSON instead of the table on stdout

Ends with 1 if an answer was wrong or something could not be measured, with 2 on a bad option.
A missed target is no failure: it is in the table.
`;

/** Options, or what to print instead of running. */
export function readOptions(
  argv: readonly string[],
  targetNames: readonly string[],
): { options: Options } | { text: string; exitCode: number } {
  const names: readonly string[] = [...targetNames, ...EXTRAS];
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        quick: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        only: { type: 'string' },
        before: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) return { text: HELP.replace('NAMES_HERE', names.join(', ')), exitCode: 0 };
    const only = values.only?.split(',').map((name) => name.trim());
    const unknown = only?.find((name) => !names.includes(name));
    if (unknown !== undefined) {
      return { text: `No "${unknown}" is measured; there are ${names.join(', ')}.\n`, exitCode: 2 };
    }
    const before = values.before === undefined ? undefined : findMain(resolve(values.before));
    if (before !== undefined && !existsSync(before))
      return { text: `There is no ${before}: build that checkout first, with npm run build.\n`, exitCode: 2 };
    const wants = (name: string): boolean => only?.includes(name) ?? true;
    const isNamed = (name: string): boolean => only?.includes(name) === true;
    return { options: { isQuick: values.quick, isJson: values.json, before, wants, names: isNamed } };
  } catch (error) {
    return { text: `${error instanceof Error ? error.message : String(error)}\n`, exitCode: 2 };
  }
}

/** The built program of a checkout, of which an earlier one may be a single package. */
function findMain(checkout: string): string {
  const main = join(checkout, 'packages', 'gateway', 'dist', 'main.js');
  return existsSync(main) ? main : join(checkout, 'dist', 'main.js');
}
