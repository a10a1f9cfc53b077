// `npm run release`: checks, packs, describes and publishes all packages of the repository in one version. With --dry-run it stops
// before the tag and prints what it would run. --skip-tests is for CI, where an earlier job has run them.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { selectSbom } from './package-sbom.ts';

const ROOT = process.cwd();
const OUT = 'release';
/** It fetches the other packages on request, and so names their exact contents. */
const GATEWAY = 'assay-mcp';

const { values: options } = parseArgs({
  options: {
    'dry-run': { type: 'boolean', default: false },
    'skip-tests': { type: 'boolean', default: false },
  },
});
const isDryRun = options['dry-run'];
const isWorkflow = process.env.GITHUB_ACTIONS === 'true';

const readJson = (...path) => JSON.parse(readFileSync(join(ROOT, ...path), 'utf8'));
const writeJson = (path, value) => writeFileSync(path, `${JSON.stringify(value, undefined, 2)}\n`);
const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
const say = (text) => process.stdout.write(`${text}\n`);

/** What is not ready. It ends a release at once, and a dry run at its end. */
const problems = [];

function report(step, faults, done) {
  for (const fault of faults) say(`✗ ${step}: ${fault}`);
  if (faults.length === 0) say(`✓ ${step}: ${done}`);
  problems.push(...faults);
  if (faults.length > 0 && !isDryRun) process.exit(1);
}

/** The output of commands belongs to the log of the release. */
function run(...command) {
  say(`  $ ${command.join(' ')}`);
  execFileSync(command[0], command.slice(1), { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] });
}

/** npm answers a list, or a record by package in newer versions. */
function npmJson(folder, ...args) {
  const text = execFileSync('npm', args, { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 28 });
  return JSON.parse(text);
}

const root = readJson('package.json');
const workspaces = globSync(root.workspaces ?? [], { cwd: ROOT })
  .toSorted()
  .filter((folder) => existsSync(join(ROOT, folder, 'package.json')))
  .map((folder) => ({ folder, manifest: readJson(folder, 'package.json') }));
const open = workspaces.filter(({ manifest }) => manifest.private !== true);
const published = open.length > 0 ? open : [{ folder: '.', manifest: root }];
// The others first, because the gateway names their contents.
published.sort((a, b) => Number(a.manifest.name === GATEWAY) - Number(b.manifest.name === GATEWAY));
const { version } = published[0].manifest;
const tag = `v${version}`;

function checkTree() {
  const changed = git('status', '--porcelain').split('\n').filter(Boolean);
  const branches = git('branch', '--all', '--contains', 'HEAD', '--format=%(refname)').split('\n');
  const isOnMain = branches.some((name) => /^refs\/(?:heads|remotes\/origin)\/main$/.test(name));
  report(
    'tree',
    [
      ...(changed.length > 0 ? [`uncommitted changes: ${changed.slice(0, 5).join(', ')}`] : []),
      ...(isOnMain ? [] : ['this commit is not on main']),
      ...(isWorkflow && process.env.GITHUB_REF_NAME !== tag
        ? [`the workflow runs for ${process.env.GITHUB_REF_NAME}, and the version is ${version}`]
        : []),
    ],
    `clean, on main at ${git('rev-parse', '--short', 'HEAD')}`,
  );
}

/** The entry of the version in CHANGELOG.md. */
function readNotes() {
  const [, ...sections] = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').split(/^## /m);
  const section = sections.find((one) => one.split(/[\s[\]]+/).find(Boolean) === version);
  return section?.split('\n').slice(1).join('\n').trim();
}

function checkVersion() {
  const manifests = [{ folder: '.', manifest: root }, ...workspaces];
  const others = manifests.filter(({ manifest }) => manifest.version !== version);
  const isTagged =
    git('tag', '--list', tag) !== '' && git('rev-parse', `${tag}^{commit}`) !== git('rev-parse', 'HEAD');
  report(
    'version',
    [
      ...others.map(({ folder, manifest }) => `${folder} has ${manifest.version}, not ${version}`),
      ...(readNotes() ? [] : [`CHANGELOG.md has no entry "## ${version}"`]),
      ...(isTagged ? [`the tag ${tag} is on another commit`] : []),
      ...published.flatMap(({ folder, manifest }) => repositoryFaults(folder, manifest)),
    ],
    `${version} in ${manifests.length} package.json, with an entry in CHANGELOG.md`,
  );
}

/** npm compares it with the workflow that publishes. */
function repositoryFaults(folder, { repository }) {
  const url = repository?.url;
  if (url === undefined)
    return [`${folder}/package.json has no repository.url, which npm needs for provenance`];
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env;
  if (!isWorkflow || url.includes(`${server}/${name}`)) return [];
  return [`${folder}/package.json names ${url}, and the workflow runs in ${server}/${name}`];
}

function checkCode() {
  if (options['skip-tests']) return say('– check and tests: skipped');
  run('npm', 'run', '--silent', 'check');
  run('npm', 'test');
  say('✓ check and tests');
}

/** Packs what was built, and says what is in it. */
function pack({ folder, manifest }) {
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', join(ROOT, OUT)];
  const answer = npmJson(join(ROOT, folder), ...args);
  const [{ filename, size, unpackedSize, integrity, files }] = Array.isArray(answer)
    ? answer
    : Object.values(answer);
  const paths = files.map(({ path }) => path);
  report(
    manifest.name,
    [
      ...paths.filter(isForeign).map((path) => `${path} does not belong into a package`),
      ...['README.md', 'LICENSE'].filter((name) => !paths.includes(name)).map((name) => `${name} is missing`),
    ],
    `${OUT}/${filename}, ${kB(size)}, ${kB(unpackedSize)} unpacked, ${files.length} files`,
  );
  const folders = Map.groupBy(files, ({ path }) =>
    path.includes('/') ? `${path.split('/').slice(0, -1).join('/')}/` : path,
  );
  for (const [name, inside] of folders)
    say(
      `    ${name.padEnd(40)} ${String(inside.length).padStart(4)} ${kB(inside.reduce((sum, one) => sum + one.size, 0)).padStart(9)}`,
    );
  return { folder, manifest, filename, integrity };
}

const kB = (bytes) => `${Math.ceil(bytes / 1_000)} kB`;

/** Sources, tests, maps, and what an editor, a tool or a person left. */
function isForeign(path) {
  return /(?:^|\/)(?:\.|node_modules\/|src\/|test\/|release\/)|\.(?:map|tsx|tsbuildinfo|log|tgz|db|env|pem|key)$|(?<!\.d)\.ts$/.test(
    path,
  );
}

/** What npm installs with a package, and what the build says is bundled into it. */
function writeSbom(
  { folder, manifest: { name, dependencies = {}, optionalDependencies = {} }, filename },
  all,
) {
  const bundled = readJson(folder, 'dist', 'bundled.json');
  const names = [...Object.keys(dependencies), ...Object.keys(optionalDependencies)];
  const sbom = selectSbom(all, { name, version, dependencies: names, bundled });
  const path = join(OUT, filename.replace(/\.tgz$/, '.cdx.json'));
  writeJson(join(ROOT, path), sbom);
  say(`✓ ${name}: ${path}, ${sbom.components.length} packages, ${bundled.length} of them bundled`);
}

function packAll() {
  rmSync(join(ROOT, OUT), { recursive: true, force: true });
  mkdirSync(join(ROOT, OUT));
  run('npm', 'run', '--silent', 'build');
  const packed = [];
  for (const one of published) {
    if (one.manifest.name === GATEWAY && packed.length > 0) {
      const companions = packed.map(({ manifest, integrity }) => [manifest.name, { version, integrity }]);
      const path = join(one.folder, 'dist', 'companions.json');
      writeJson(join(ROOT, path), Object.fromEntries(companions));
      say(`✓ ${path}: ${companions.map(([name]) => name).join(', ')}`);
    }
    packed.push(pack(one));
  }
  const all = npmJson(ROOT, 'sbom', '--package-lock-only', '--sbom-format', 'cyclonedx');
  for (const one of packed) writeSbom(one, all);
  writeFileSync(join(ROOT, OUT, 'NOTES.md'), `${readNotes() ?? ''}\n`);
  return packed;
}

function publish(packed) {
  const isTagged = git('tag', '--list', tag) !== '';
  const commands = [
    ...(isTagged ? [] : [['git', 'tag', '--annotate', '--message', tag, tag]]),
    ...(isWorkflow ? [] : [['git', 'push', 'origin', tag]]),
  ];
  const uploads = packed.map(({ filename }) => [
    'npm',
    'publish',
    join(OUT, filename),
    '--provenance',
    '--access',
    'public',
  ]);
  if (isDryRun) {
    say('\nA release would run, with a right to push tags:');
    for (const command of commands) say(`  $ ${command.join(' ')}`);
    say('and the workflow that the tag starts, as a trusted publisher of npm or with NPM_TOKEN:');
    for (const command of uploads) say(`  $ ${command.join(' ')}`);
    return;
  }
  for (const command of commands) run(...command);
  if (!isWorkflow) return say(`✓ ${tag}: the workflow "release" tests and publishes it`);
  for (const [at, command] of uploads.entries()) if (!isPublished(packed[at])) run(...command);
  say(`✓ published: ${packed.map(({ manifest }) => `${manifest.name}@${version}`).join(', ')}`);
}

/** By an earlier attempt, which another package ended. */
function isPublished({ manifest: { name }, integrity }) {
  const args = ['view', `${name}@${version}`, 'dist.integrity'];
  const { stdout } = spawnSync('npm', args, { encoding: 'utf8' }); // empty if npm does not know the version
  const there = stdout.trim();
  if (there !== '' && there !== integrity) report(name, [`${version} is published with other contents`]);
  return there === integrity;
}

checkTree();
checkVersion();
checkCode();
publish(packAll());
if (problems.length > 0) {
  say(`\nNot ready for a release:\n${problems.map((one) => `  ${one}`).join('\n')}`);
  process.exitCode = 1;
}
