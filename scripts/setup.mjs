import { spawnSync } from 'node:child_process';

/** What the tests need beyond npm. Nothing else in this repository calls a system package manager. */
const needs = [
  {
    command: 'ps',
    debianPackage: 'procps',
    why: 'tests of processes look for children that were left alive',
  },
  {
    command: 'chromium',
    debianPackage: 'chromium',
    why: 'tests of the admin pages use a real browser',
  },
  ...(process.platform === 'linux'
    ? [
        { command: 'bwrap', debianPackage: 'bubblewrap', why: 'tests run servers in a sandbox' },
        { command: 'strace', debianPackage: 'strace', why: 'tests watch the system calls of servers' },
        { command: 'pgbouncer', debianPackage: 'pgbouncer', why: 'tests put a pooler before PostgreSQL' },
        { command: 'zsh', debianPackage: 'zsh', why: 'tests press Tab in it' },
        { command: 'fish', debianPackage: 'fish', why: 'tests press Tab in it' },
        { command: 'script', debianPackage: 'bsdutils', why: 'tests give shells a terminal' },
      ]
    : []),
];

const missing = needs.filter((need) => !isInstalled(need.command));
if (missing.length > 0) install(missing);

function install(missing) {
  const packages = missing.map((need) => need.debianPackage);
  const update = ['apt-get', 'update'];
  const add = ['apt-get', 'install', '-y', '--no-install-recommends', ...packages];

  for (const { command, why } of missing) console.error(`"${command}" is missing: ${why}.`);
  if (process.getuid?.() !== 0 || !isInstalled('apt-get')) {
    fail(`Run: sudo ${update.join(' ')} && sudo ${add.join(' ')}`);
  } else if (!run(update) || !run(add)) {
    fail(`apt-get could not install ${packages.join(' ')}. Its own words are above.`);
  } else {
    const absent = missing.filter((need) => !isInstalled(need.command)).map((need) => need.command);
    if (absent.length > 0)
      fail(`${packages.join(' ')} is installed, but the PATH has no ${absent.join(', ')}.`);
  }
}

function isInstalled(command) {
  // Debian has daemons in /usr/sbin, which is not in every user's PATH.
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };
  return spawnSync('sh', ['-c', 'command -v "$1"', 'sh', command], { env }).status === 0;
}

function run([command, ...args]) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return spawnSync(command, args, { env, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}

function fail(sentence) {
  console.error(sentence);
  process.exitCode = 1;
}
