import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { planService, SERVICE_MARK, type ServicePlan } from '../adapters/service/service-plan.ts';
import { isShortLived } from '../adapters/config/client-configs/own-entry.ts';
import type { AppOptions } from '../core/command-options.ts';
import type { FoundService, ServiceAction } from '../edges/cli/runtime.ts';
import { sha256 } from '@assay-mcp/kit/digest';
import { ensureFolder, isThere, readText, removeFile, writeAtomically } from '@assay-mcp/kit/platform/files';
import { locateConfig, toConfigEnvironment } from '@assay-mcp/kit/platform/locate-config';
import { locateHome } from '@assay-mcp/kit/platform/locate-home';
import { quoteShellArgument } from '@assay-mcp/kit/shell-argument';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { findGateway } from './gateway-lock.ts';
import { OWN_COMMAND } from './serve-stdio.ts';

/** Longest time in ms that a command of the service manager may take. */
const COMMAND_MS = 60_000;
const FILE_MODE = 0o600;

/** The service of a home and config, installed or not. The error is a sentence. */
export async function findService(
  options: AppOptions & { readonly port?: number },
): Promise<Result<FoundService, string>> {
  const { platform } = process;
  if (platform !== 'linux' && platform !== 'darwin' && platform !== 'win32')
    return err('This system has no service manager that Assay knows.');
  const environment = toConfigEnvironment(options);
  const home = locateHome(environment);
  const { path: configPath } = locateConfig({ flag: options.config, ...environment });
  const isUsual = home === join(homedir(), '.assay') && configPath === join(home, 'mcp.json');
  const [node = '', main = ''] = OWN_COMMAND;
  const place = ['--home', home, '--config', configPath];
  const plan = planService({
    platform,
    name: isUsual ? 'assay' : `assay-${sha256(`${home}\n${configPath}`).slice(0, 8)}`,
    command: [node, toRealPath(main), 'serve', ...place, '--port', String(options.port ?? 4444)],
    assayHome: home,
    userHome: homedir(),
    configHome: toAbsolute(environment.env['XDG_CONFIG_HOME']),
    path: listAbsolute(environment.env['PATH'] ?? ''),
    userId: process.getuid?.() ?? 0,
  });
  if (plan === undefined)
    return err(
      'A path of Assay has a control character or ends in a backslash, which a service cannot have.',
    );
  const present = isThere(plan.file.path) ? await readText(plan.file.path) : undefined;
  if (present?.ok === false) return err(`Cannot read ${plan.file.path}: ${present.error.reason}.`);
  const isForeign = present !== undefined && !present.value.includes(SERVICE_MARK);
  if (isForeign) return err(`${plan.file.path} was not written by Assay. Rename it first.`);
  const running = findGateway({ home, configPath });
  return ok({
    ...plan,
    isInstalled: present !== undefined,
    isShortLived: isShortLived(OWN_COMMAND),
    servedBy: running?.isOnDemand === false ? running.pid : undefined,
    apply: (action) => apply(plan, home, action),
  });
}

function toRealPath(main: string): string {
  try {
    return realpathSync(main);
  } catch {
    return resolve(main);
  }
}

function toAbsolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

/** Folders of a project or of a package that is being run are not part of a permanent service. */
function listAbsolute(path: string): string {
  return path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !/[\\/]node_modules[\\/]\.bin[\\/]?$/.test(folder))
    .join(delimiter);
}

/** Writes or removes the file and runs the commands. The error is a sentence. */
async function apply(
  plan: ServicePlan,
  home: string,
  action: ServiceAction,
): Promise<Result<undefined, string>> {
  const { file } = plan;
  if (action === 'remove') {
    // What cannot be stopped is removed nevertheless: without its file it does not start again.
    const stopped = await runAll(plan, plan.remove);
    const removed = await removeFile(file.path);
    if (!removed.ok) return err(`Cannot remove ${file.path}: ${removed.error.reason}.`);
    const done = await runAll(plan, plan.removed);
    return stopped.ok ? done : err(`${stopped.error} ${file.path} is removed.`);
  }
  for (const folder of [home, dirname(file.path)]) {
    const made = await ensureFolder(folder);
    if (!made.ok) return err(`Cannot create ${folder}: ${made.error.reason}.`);
  }
  const written = await writeAtomically(file.path, file.text, FILE_MODE);
  if (!written.ok) return err(`Cannot write ${file.path}: ${written.error.reason}.`);
  const done = await runAll(plan, plan.install);
  return done.ok
    ? done
    : err(`${done.error} The file is written; \`assay service install --undo\` removes it.`);
}

async function runAll(
  { file, withoutManager }: ServicePlan,
  commands: ServicePlan['install'],
): Promise<Result<undefined, string>> {
  for (const words of commands) {
    const failure = await run(words);
    if (failure === 'missing') return err(`${withoutManager}the command in ${file.path}.`);
    if (failure !== undefined)
      return err(`\`${words.map(quoteShellArgument).join(' ')}\` has failed: ${failure}.`);
  }
  return ok(undefined);
}

/** Undefined if it has succeeded. */
function run([command = '', ...args]: readonly string[]): Promise<string | undefined> {
  return new Promise((done) => {
    execFile(command, args, { timeout: COMMAND_MS, windowsHide: true }, (error, stdout, stderr) => {
      if (error === null) return done(undefined);
      if (error.code === 'ENOENT') return done('missing');
      const told = (stderr.trim() || stdout.trim() || error.message).slice(0, 500);
      done(told.replace(/[.\s]+$/, ''));
    });
  });
}
