// `npm run study`: verifies published servers in sandboxes without a network, and writes what it finds.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runConcurrently } from '@assay-mcp/kit/run-concurrently';
import { GATEWAY, ROOT } from '../support/paths.ts';
import { filesOf } from './fixture-files.ts';
import { installServer } from './install.ts';
import { formatIndex } from './index-page.ts';
import { formatStudy } from './study-page.ts';
import { formatVerdicts } from './verdicts.ts';
import { nameRecord, readPublished, readRecords, type StudyRecord, writeRecord } from './record.ts';
import { screen } from './screen.ts';
import { SERVERS } from './servers.ts';
import { chooseGroup } from './split.ts';
import { compareTwin } from './twins.ts';
import { digestVerifier, verifyTwice, verifyWithFixtures } from './verify-server.ts';

const HELP = `npm run study -- [NAME...] [--screen COUNT | --fixtures | --twins | --page]

Verifies each server of test/study/servers/ twice, without fixtures, and keeps the results there. Servers that this build
of the verifier has verified already are left out, so that an interrupted run goes on where it was. Results that authors
must be told of first are kept in test/study/unreported/, which Git ignores. Then writes docs/verified-servers.md,
docs/STUDY.md and packages/gateway/verdicts.json. Servers are installed from npm without their scripts into the folder of
temporary files, and removed again.

  NAME            only these servers, such as @scope/name, whatever verified them before
  --group GROUP   only the servers of the group tuning or held_out
  --screen COUNT  installs candidates of test/study/candidates.tsv and keeps those that list tools, until there are COUNT
  --fixtures      verifies the servers of test/study/fixtures/ once with arguments written by hand
  --twins         calls the read-only tools of these servers with and without "sandbox": "twin"
  --page          only writes the files again
  --parallel N    how many servers at the same time, 1 to 8 (default: 2)

Ends with 1 if a server could not be verified, with 2 on a bad option.
`;

const MAX_PARALLEL = 8;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      group: { type: 'string' },
      screen: { type: 'string' },
      fixtures: { type: 'boolean' },
      twins: { type: 'boolean' },
      page: { type: 'boolean' },
      parallel: { type: 'string', default: '2' },
    },
  });
  if (values.help === true) {
    process.stdout.write(HELP);
    return 0;
  }
  const parallel = Number(values.parallel);
  if (!Number.isInteger(parallel) || parallel < 1 || parallel > MAX_PARALLEL) {
    console.error(`--parallel: ${values.parallel} is no whole number from 1 to ${MAX_PARALLEL}`);
    return 2;
  }
  if (values.screen !== undefined) await screen(Number(values.screen), parallel);
  const records = readRecords();
  const unknown = positionals.find((name) => records.every((record) => record.package !== name));
  if (unknown !== undefined || ![undefined, 'tuning', 'held_out'].includes(values.group)) {
    console.error(
      unknown === undefined
        ? `--group: ${values.group ?? ''} is neither tuning nor held_out`
        : `The study has no server "${unknown}". ls test/study/servers shows those that it has.`,
    );
    return 2;
  }
  const chosen = records.filter(
    (record) =>
      (positionals.length === 0 || positionals.includes(record.package)) &&
      (values.group === undefined || chooseGroup(record.package) === values.group),
  );
  const isRead = values.page === true || values.screen !== undefined;
  const failed = isRead ? 0 : await work(chosen, { ...values, parallel, isNamed: positionals.length > 0 });
  writePages(readPublished());
  return failed === 0 ? 0 : 1;
}

interface Work {
  readonly twins?: boolean | undefined;
  readonly fixtures?: boolean | undefined;
  readonly parallel: number;
  readonly isNamed: boolean;
}

/** Returns the number of servers that could not be verified. */
async function work(
  chosen: readonly StudyRecord[],
  { twins, fixtures, parallel, isNamed }: Work,
): Promise<number> {
  if (twins === true) return compareTwins(chosen);
  let failed = 0;
  const verifier = digestVerifier();
  const todo =
    fixtures === true
      ? chosen.filter((record) => record.fixtures !== undefined)
      : chosen.filter(({ result }) => isNamed || result?.verifier !== verifier);
  // An interrupted run has then seen most servers.
  todo.sort((a, b) => a.tools - b.tools);
  await runConcurrently(todo, parallel, async (record) => {
    const verified = fixtures === true ? await verifyWithFixtures(record) : await verifyTwice(record);
    // Without a report, the next run tries again.
    if (verified !== undefined && verified.result?.runs !== 0) writeRecord(verified);
    const called = verified?.result?.tools.filter(({ calls }) => calls > 0).length ?? 0;
    const failure = verified === undefined ? 'no report' : verified.result?.failure;
    if (failure !== undefined) failed += 1;
    console.error(`${record.package}: ${failure ?? `${called} of ${record.tools} tools called`}`);
  });
  return failed;
}

async function compareTwins(chosen: readonly StudyRecord[]): Promise<number> {
  let failed = 0;
  for (const server of SERVERS) {
    const record = chosen.find((one) => one.package === server.package);
    const installed =
      record === undefined ? undefined : await installServer(server.package, server.version, server.main);
    if (installed?.ok !== true) continue;
    const files = filesOf(server.name);
    try {
      const program = join(installed.value.folder, installed.value.program);
      const { tools } = await compareTwin(server, { program, files: files.folder });
      const unlike = tools.filter(({ failure }) => failure !== undefined);
      failed += unlike.length;
      console.error(`${server.name}: ${tools.length - unlike.length} of ${tools.length} on its twin`);
      for (const { name, failure = '' } of unlike) console.error(`  ${name}: ${failure}`);
    } finally {
      files.remove();
      await installed.value.remove();
    }
  }
  return failed;
}

function writePages(records: readonly StudyRecord[]): void {
  writeFileSync(join(ROOT, 'docs', 'verified-servers.md'), formatIndex(records));
  writeFileSync(join(ROOT, 'docs', 'STUDY.md'), formatStudy(records));
  writeFileSync(join(GATEWAY, 'verdicts.json'), formatVerdicts(records));
  const files = records.map(({ package: name }) => nameRecord(name));
  if (new Set(files).size < files.length)
    throw new Error('Two records of the study have the same file name.');
}
