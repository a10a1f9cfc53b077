// `npm run conformance`: the official conformance suite against the everything server, through Assay, and against
// Assay as a client.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findingsOf } from './findings.ts';
import { SETS, WAYS, type Way } from './plan.ts';
import { Programs } from './programs.ts';
import { runConformance } from './run-conformance.ts';
import { tableOf } from './table.ts';

const HELP = `npm run conformance -- [--only WAYS] [--keep FOLDER] [--json]

Runs the official conformance suite and compares what passes with what passes directly.
The table goes to stdout, what does not pass and is not in the baseline to stderr.

  --only WAYS    some of the ways, with commas between: ${WAYS.join(', ')}
  --keep FOLDER  where what the suite writes is kept
  --json         all outcomes as JSON instead of the table

Ends with 1 if a check fails that is not in the baseline, or a line of the baseline fits nothing; with 2 on a bad option.
`;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === 'string') {
    console.error(options);
    return 2;
  }
  if (options.isHelp) {
    process.stdout.write(HELP);
    return 0;
  }
  const folder = options.keep ?? mkdtempSync(join(tmpdir(), 'assay-conformance-'));
  mkdirSync(folder, { recursive: true });
  const programs = new Programs();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  process.once('exit', () => {
    if (options.keep === undefined) rmSync(folder, { recursive: true, force: true });
  });
  try {
    const outcomes = await runConformance({
      programs,
      folder,
      ways: options.ways,
      sets: SETS,
      onOutcome: ({ way, set }) => {
        console.error(`done: ${way}, ${set}`);
      },
    });
    const findings = outcomes.flatMap(findingsOf);
    for (const finding of findings) console.error(finding);
    process.stdout.write(options.isJson ? `${JSON.stringify(outcomes, null, 2)}\n` : tableOf(outcomes));
    return findings.length === 0 ? 0 : 1;
  } finally {
    await programs.end();
  }
}

interface Options {
  readonly ways: readonly Way[];
  readonly keep: string | undefined;
  readonly isJson: boolean;
  readonly isHelp: boolean;
}

/** Options, or what is wrong with them. */
function readOptions(): Options | string {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: 'string' },
        keep: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    const wanted = values.only?.split(',').map((name) => name.trim());
    const unknown = wanted?.find((name) => !WAYS.some((way) => way === name));
    if (unknown !== undefined) return `No way is called "${unknown}"; there are ${WAYS.join(', ')}.`;
    const ways = WAYS.filter((way) => wanted?.includes(way) ?? true);
    return { ways, keep: values.keep, isJson: values.json, isHelp: values.help };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
