import { Command, InvalidArgumentError, Option } from 'commander';
import { withConfig, withHome, type Done } from './common-options.ts';
import type { DoctorOptions } from './doctor.ts';
import type { LogsOptions } from './logs.ts';
import type { ServeOptions, StdioOptions } from '../../core/command-options.ts';
import type { Runtime } from './runtime.ts';
import type { JsonOptions } from './with-opened.ts';

/** The commands that run the gateway or show its state. Each loads its module only when run. */
export function gatewayCommands(runtime: Runtime, done: Done): readonly Command[] {
  const commands = [
    serveCommand(runtime, done),
    stdioCommand(runtime, done),
    statusCommand(runtime, done),
    doctorCommand(runtime, done),
  ];
  return [...commands.map(withConfig), settingsCommand(runtime, done), withHome(logsCommand(runtime, done))];
}

function settingsCommand(runtime: Runtime, done: Done): Command {
  const settings = new Command('settings').description('show and change settings');
  const list = new Command('list')
    .description('show all settings, their values and origins')
    .action(async (options: JsonOptions) => {
      const { showSettings } = await import('./settings.ts');
      done(await showSettings(runtime, options));
    });
  const set = new Command('set')
    .description('store a value; the environment and the config file take precedence')
    .argument('<key>')
    .argument('<value>')
    .action(async (key: string, text: string, options: JsonOptions) => {
      const { changeSetting } = await import('./settings.ts');
      done(await changeSetting(runtime, { key, text }, options));
    });
  const unset = new Command('unset')
    .description('delete the stored value, so that the default applies')
    .argument('<key>')
    .action(async (key: string, options: JsonOptions) => {
      const { changeSetting } = await import('./settings.ts');
      done(await changeSetting(runtime, { key, text: undefined }, options));
    });
  for (const command of [list, set, unset])
    settings.addCommand(withConfig(command).option('--json', 'print JSON'), { isDefault: command === list });
  return settings;
}

function serveCommand(runtime: Runtime, done: Done): Command {
  return new Command('serve')
    .description('serve all configured servers at one HTTP endpoint')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 selects a free port', portOf, 4444)
    .action(async (options: ServeOptions) => {
      const { serve } = await import('./serve.ts');
      done(await serve(runtime, options));
    });
}

function stdioCommand(runtime: Runtime, done: Done): Command {
  return new Command('stdio')
    .description('serve all configured servers on stdin and stdout, for clients that start Assay')
    .option('--attach', 'use a running `assay serve` with the same home instead of starting the servers')
    .addOption(
      new Option('--all', 'serve all tools of all servers, even if a toolset is equipped').conflicts(
        'toolset',
      ),
    )
    .option('--toolset <name>', 'serve this toolset, even if another one is equipped')
    .addOption(
      new Option('--search', 'expose three tools that find, describe and call all others').conflicts([
        'all',
        'toolset',
      ]),
    )
    .action(async (options: StdioOptions) => {
      const { runStdioCommand } = await import('./stdio.ts');
      done(await runStdioCommand(runtime, options));
    });
}

function statusCommand(runtime: Runtime, done: Done): Command {
  return new Command('status')
    .description('show the running gateway: endpoint, servers, clients and pending reviews')
    .option('--json', 'print JSON')
    .action(async (options: JsonOptions) => {
      const { showStatus } = await import('./status.ts');
      done(await showStatus(runtime, options));
    });
}

function doctorCommand(runtime: Runtime, done: Done): Command {
  return new Command('doctor')
    .description('check config, servers and machine, and suggest fixes')
    .option('--json', 'print JSON')
    .option('--offline', 'do not start any servers')
    .option('--start', 'start servers even if the gateway of this home is running')
    .option('--strict', 'exit with an error on warnings too')
    .action(async (options: DoctorOptions) => {
      const { diagnose } = await import('./doctor.ts');
      done(await diagnose(runtime, options));
    });
}

const MAX_LINES = 100_000;

function logsCommand(runtime: Runtime, done: Done): Command {
  const count = (text: string): number => {
    const lines = Number(text);
    if (!/^\d{1,6}$/.test(text) || lines > MAX_LINES)
      throw new InvalidArgumentError(`It must be a whole number from 0 to ${MAX_LINES}.`);
    return lines;
  };
  return new Command('logs')
    .argument('[server]', 'only show lines about this server, including its stderr')
    .description('show the log of the running or last `assay serve` with this home')
    .option('-f, --follow', 'keep printing new lines until Ctrl+C')
    .option('-n, --lines <number>', 'number of lines to show', count, 100)
    .option('--json', 'print each line as JSON')
    .action(async (server: string | undefined, options: LogsOptions) => {
      const { showLogs } = await import('./logs.ts');
      done(await showLogs(runtime, server, options));
    });
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}
