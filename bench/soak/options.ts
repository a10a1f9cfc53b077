import { parseArgs } from 'node:util';

export interface SoakOptions {
  readonly minutes: number;
  readonly isQuick: boolean;
  readonly isHostile: boolean;
  readonly seed: number;
}

const FULL_MINUTES = 30;
const QUICK_MINUTES = 2;
const SEEDS = 1_000_000;

const HELP = `npm run soak -- [--minutes ${String(FULL_MINUTES)}] [--quick] [--hostile] [--seed N]

Loads one Assay for a long time: calls, clients that come and go, servers that crash, edits of the config.
Afterwards its memory, handles, processes and sockets must be what they were.
The tables go to stdout, progress to stderr, and both JSON and Markdown to bench/results/.

  --minutes N  how long the load lasts
  --quick      ${String(QUICK_MINUTES)} minutes, with more edits
  --hostile    one hostile client and two hostile servers beside honest ones, and nothing is made to fail: memory, disk and
               the delay of the event loop stay bounded, and 99 of 100 small honest calls take at most 250 ms
  --seed N     the choices of an earlier run again; it printed its seed

Ends with 1 if something grew, was left over or was answered wrong, with 2 on a bad option.
`;

/** Options, or what to print instead of running. */
export function readSoakOptions(
  argv: readonly string[],
): { options: SoakOptions } | { text: string; exitCode: number } {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        minutes: { type: 'string' },
        quick: { type: 'boolean', default: false },
        hostile: { type: 'boolean', default: false },
        seed: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) return { text: HELP, exitCode: 0 };
    const isQuick = values.quick;
    const minutes = Number(values.minutes ?? (isQuick ? QUICK_MINUTES : FULL_MINUTES));
    const seed = Number(values.seed ?? Math.floor(Math.random() * SEEDS));
    if (!(minutes > 0)) return { text: '--minutes takes a number above 0.\n', exitCode: 2 };
    if (!Number.isSafeInteger(seed)) return { text: '--seed takes a whole number.\n', exitCode: 2 };
    return { options: { minutes, isQuick, isHostile: values.hostile, seed } };
  } catch (error) {
    return { text: `${error instanceof Error ? error.message : String(error)}\n`, exitCode: 2 };
  }
}
