import { parseArgs } from 'node:util';

export interface SoakOptions {
  readonly minutes: number;
  readonly isQuick: boolean;
  readonly isHostile: boolean;
  readonly seed: number;
  /** Number of gateways behind a balancer; undefined for the soak of one. */
  readonly replicas: number | undefined;
  readonly isNginx: boolean;
  /** Commit from which the replicas are upgraded one by one, and to which they are rolled back. */
  readonly upgradeFrom: string | undefined;
}

const FULL_MINUTES = 30;
const QUICK_MINUTES = 2;
const REPLICA_MINUTES = 10;
/** One round of each fault, which takes as long as it takes. */
const QUICK_REPLICA_MINUTES = 0.05;
const MAX_REPLICAS = 9;
const SEEDS = 1_000_000;

const HELP = `npm run soak -- [--minutes ${String(FULL_MINUTES)}] [--quick] [--hostile] [--seed N]
npm run soak -- --replicas 3 [--minutes ${String(REPLICA_MINUTES)}] [--quick] [--nginx] [--upgrade-from COMMIT] [--seed N]

Loads one Assay for a long time: calls, clients that come and go, servers that crash, edits of the config.
Afterwards its memory, handles, processes and sockets must be what they were.
The tables go to stdout, progress to stderr, and both JSON and Markdown to bench/results/.

  --minutes N  how long the load lasts
  --quick      ${String(QUICK_MINUTES)} minutes, with more edits
  --hostile    one hostile client and two hostile servers beside honest ones, and nothing is made to fail: memory, disk and
               the delay of the event loop stay bounded, and 99 of 100 small honest calls take at most 250 ms
  --replicas N several gateways on one PostgreSQL behind a balancer, clients of the official SDKs 1.x and 2.x, and these faults
               in turn: kill -9, rolling restart, PostgreSQL stopped for 30 s; ${String(REPLICA_MINUTES)} minutes, with --quick one of each.
               No client may have to be started again, no call that may be repeated may be lost, and no other may
               be carried out twice
  --nginx      with --replicas: Debian's nginx as the balancer instead of our own
  --upgrade-from COMMIT
               with --replicas: instead of the faults, replicas of that commit are replaced one by one by this build,
               and rolled back
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
        replicas: { type: 'string' },
        nginx: { type: 'boolean', default: false },
        'upgrade-from': { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) return { text: HELP, exitCode: 0 };
    const isQuick = values.quick;
    const replicas = values.replicas === undefined ? undefined : Number(values.replicas);
    const full = replicas === undefined ? FULL_MINUTES : REPLICA_MINUTES;
    const quick = replicas === undefined ? QUICK_MINUTES : QUICK_REPLICA_MINUTES;
    const minutes = Number(values.minutes ?? (isQuick ? quick : full));
    const seed = Number(values.seed ?? Math.floor(Math.random() * SEEDS));
    if (!(minutes > 0)) return { text: '--minutes takes a number above 0.\n', exitCode: 2 };
    if (!Number.isSafeInteger(seed)) return { text: '--seed takes a whole number.\n', exitCode: 2 };
    if (replicas !== undefined && !(Number.isInteger(replicas) && replicas > 0 && replicas <= MAX_REPLICAS))
      return { text: `--replicas takes a whole number from 1 to ${String(MAX_REPLICAS)}.\n`, exitCode: 2 };
    const upgradeFrom = values['upgrade-from'];
    if (replicas === undefined && (values.nginx || upgradeFrom !== undefined))
      return { text: '--nginx and --upgrade-from need --replicas.\n', exitCode: 2 };
    if (replicas !== undefined && values.hostile)
      return { text: '--hostile is for one gateway, without --replicas.\n', exitCode: 2 };
    return {
      options: {
        minutes,
        isQuick,
        isHostile: values.hostile,
        seed,
        replicas,
        isNginx: values.nginx,
        upgradeFrom,
      },
    };
  } catch (error) {
    return { text: `${error instanceof Error ? error.message : String(error)}\n`, exitCode: 2 };
  }
}
