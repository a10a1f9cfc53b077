// `npm run study`: verifies published servers, calls their read-only tools in a sandbox, and writes the results to
// docs/verified-servers.md.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseJson } from '../support/json.ts';
import { MAIN, ROOT } from '../support/paths.ts';
import { listContradictions, type VerifyReport } from '@assay-mcp/kit/verification/report';
import { pageOf, type StudyResult } from './page.ts';
import { SERVERS, type StudyServer } from './servers.ts';
import { compareTwin, type TwinReport } from './twins.ts';

const HELP = `npm run study -- [NAME...] [--twins | --page]

Installs the servers of test/study/servers.ts from npm into .study/, verifies them with the fixtures and the baselines of
test/study/fixtures/, calls each read-only tool with and without "sandbox": "twin", and writes docs/verified-servers.md.
The reports are kept in .study/.

  NAME     only these servers; the others stay in the page as they were last verified
  --twins  calls the read-only tools, and verifies nothing
  --page   writes the page again from the kept reports

Ends with 1 if a contradiction has no explanation in its baseline or a server did not start; with 2 on a bad option.
`;

const FOLDER = join(ROOT, '.study');
const FIXTURES = join(import.meta.dirname, 'fixtures');
const PAGE = join(ROOT, 'docs', 'verified-servers.md');
/** Calls that need a missing browser or cluster take long to fail. */
const LIMIT_MS = 600_000;

process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' }, page: { type: 'boolean' }, twins: { type: 'boolean' } },
  });
  if (values.help === true) {
    process.stdout.write(HELP);
    return 0;
  }
  const unknown = positionals.find((name) => !SERVERS.some((server) => server.name === name));
  if (unknown !== undefined) {
    console.error(
      `The study has no server "${unknown}". It has ${SERVERS.map(({ name }) => name).join(', ')}.`,
    );
    return 2;
  }
  const chosen = SERVERS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  if (values.page !== true) install(chosen);
  const failed =
    values.page === true || values.twins === true ? [] : chosen.filter((server) => !verified(server));
  if (values.page !== true) for (const server of chosen) await compareAndKeep(server);
  const results = SERVERS.flatMap(keptResult);
  writeFileSync(PAGE, pageOf(results));
  const unexplained = results.flatMap(({ server, report }) =>
    listContradictions(report)
      .filter(({ accepted }) => accepted === undefined)
      .map(({ tool, hint }) => `${server.name}: ${tool.name} ${hint} is contradicted and not explained`),
  );
  for (const line of unexplained) console.error(line);
  return failed.length + unexplained.length === 0 ? 0 : 1;
}

async function compareAndKeep(server: StudyServer): Promise<void> {
  const files = mkdtempSync(join(tmpdir(), 'assay-study-'));
  try {
    filesOf(server, files);
    const program = join(FOLDER, 'node_modules', server.package, server.main);
    const report = await compareTwin(server, { program, files });
    writeFileSync(twinPath(server), JSON.stringify(report));
    const failed = report.tools.filter(({ failure }) => failure !== undefined);
    console.error(
      `${server.name}: ${report.tools.length - failed.length} of ${report.tools.length} on its twin`,
    );
  } finally {
    rmSync(files, { recursive: true, force: true });
  }
}

/** Verifies a server; returns whether there is a report. */
function verified(server: StudyServer): boolean {
  const { name, main, args = [], env = {}, needs } = server;
  const program = join('node_modules', server.package, main);
  const seeds = mkdtempSync(join(tmpdir(), 'assay-study-'));
  try {
    const files = filesOf(server, seeds);
    const pace =
      needs === undefined ? ['--sets', '2', '--repeats', '3'] : ['--sets', '1', '--call-limit', '5'];
    const pairs = Object.entries(env).map(([key, value]) => `${key}=${value}`);
    const run = spawnSync(
      process.execPath,
      [
        ...[MAIN, 'verify', '--json', ...pace, ...files],
        ...(pairs.length === 0 ? [] : ['--env', ...pairs]),
        ...['--', process.execPath, program, ...args],
      ],
      { cwd: FOLDER, encoding: 'utf8', timeout: LIMIT_MS, maxBuffer: 256 * 1024 * 1024 },
    );
    const isReport = run.stdout.startsWith('{');
    console.error(isReport ? `${name}: verified` : `${name}: ${run.stderr.trim()}`);
    if (isReport) writeFileSync(reportPath(server), run.stdout);
    return isReport;
  } finally {
    rmSync(seeds, { recursive: true, force: true });
  }
}

/** Installs missing packages, all in one folder. */
function install(servers: readonly StudyServer[]): void {
  const specs = servers
    .filter(({ package: name, main }) => !existsSync(join(FOLDER, 'node_modules', name, main)))
    .map((server) => `${server.package}@${server.version}`);
  if (specs.length === 0) return;
  mkdirSync(FOLDER, { recursive: true });
  const own = join(FOLDER, 'package.json');
  if (!existsSync(own)) writeFileSync(own, '{ "private": true }\n');
  console.error(`installing ${specs.join(', ')}`);
  const npm = ['install', '--no-audit', '--no-fund', '--save-exact', ...specs];
  const done = spawnSync('npm', npm, { cwd: FOLDER, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`npm cannot install the servers: ${done.stderr}`);
}

/** Options that name the files of a server, copied to a folder with its seed data. */
function filesOf(server: StudyServer, folder: string): readonly string[] {
  const own = join(FIXTURES, server.name);
  if (existsSync(own)) cpSync(own, folder, { recursive: true });
  if (server.inRepository === true) writeRepository(folder);
  return [
    ['--fixtures', join(folder, 'assay-verify.json')],
    ['--baseline', join(folder, 'baseline.json')],
  ].flatMap(([option = '', file = '']) => (existsSync(file) ? [option, file] : []));
}

/** Makes the seed data a repository with two commits, a tag, a branch and an uncommitted change. */
function writeRepository(fixtures: string): void {
  const folder = join(fixtures, 'seed');
  mkdirSync(folder, { recursive: true });
  const git = (...args: readonly string[]): void => {
    const identity = [
      '-c',
      'user.name=Study',
      '-c',
      'user.email=study@example.org',
      '-c',
      'commit.gpgsign=false',
    ];
    const done = spawnSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`git ${args.join(' ')}: ${done.stderr}`);
  };
  git('init', '--quiet', '--initial-branch', 'main');
  git('config', 'user.name', 'Study');
  git('config', 'user.email', 'study@example.org');
  for (const [number, text] of ['one\n', 'one\ntwo\n'].entries()) {
    writeFileSync(join(folder, 'notes.txt'), text);
    git('add', '.');
    git('commit', '--quiet', '-m', `commit ${number + 1}`);
  }
  git('tag', 'v1');
  git('branch', 'other');
  writeFileSync(join(folder, 'notes.txt'), 'one\ntwo\nthree\n');
}

function keptResult(server: StudyServer): readonly StudyResult[] {
  const path = reportPath(server);
  if (!existsSync(path)) return [];
  const [report, twin] = [path, twinPath(server)].map((file) =>
    existsSync(file) ? (parseJson(readFileSync(file, 'utf8')) as unknown) : undefined,
  );
  return [{ server, report: report as VerifyReport, twin: twin as TwinReport | undefined }];
}

function twinPath({ name }: StudyServer): string {
  return join(FOLDER, `${name}.twin.json`);
}

function reportPath({ name }: StudyServer): string {
  return join(FOLDER, `${name}.report.json`);
}
