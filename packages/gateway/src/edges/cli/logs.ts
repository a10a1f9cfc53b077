import { Command, InvalidArgumentError } from 'commander';
import { formatCount } from '@assay-mcp/kit/counted';
import { ok } from '@assay-mcp/kit/result';
import { type Done, withHome, type JsonOptions } from './common-options.ts';
import {
  printError,
  printLine,
  printText,
  formatProse,
  quoteText,
} from '@assay-mcp/kit/platform/terminal/print';
import type { LogLine, Runtime } from './runtime.ts';
import { withOpened } from './with-api.ts';

/** `assay logs` */
export function logsCommand(runtime: Runtime, done: Done): Command {
  const count = (text: string): number => {
    const lines = Number(text);
    if (!/^\d{1,6}$/.test(text) || lines > MAX_LINES)
      throw new InvalidArgumentError(`It must be a whole number from 0 to ${MAX_LINES}.`);
    return lines;
  };
  return withHome(
    new Command('logs')
      .argument('[server]', 'only show lines about this server, including its stderr')
      .description('show the log of the running or last `assay serve` with this home')
      .option('-f, --follow', 'keep printing new lines until Ctrl+C')
      .option('-n, --lines <number>', 'number of lines to show', count, 100)
      .option('--json', 'print each line as JSON')
      .action(async (server: string | undefined, options: LogsOptions) =>
        done(await showLogs(runtime, server, options)),
      ),
  );
}

const MAX_LINES = 100_000;

interface LogsOptions extends JsonOptions {
  readonly follow?: boolean;
  readonly lines: number;
}

/** `assay logs [SERVER]`: the last lines of the log of `assay serve`, and with `--follow` new ones. */
function showLogs(runtime: Runtime, server: string | undefined, options: LogsOptions): Promise<number> {
  return withOpened(runtime.openLog(options), async ({ path, lines: all, follow }) => {
    const isAsked = (line: LogLine): boolean => server === undefined || line.server === server;
    const show = ({ json, text }: LogLine): void =>
      options.json === true ? printText(json) : printLine(text);
    const asked = all.filter(isAsked);
    for (const line of asked.slice(-options.lines)) show(line);
    if (asked.length === 0 && options.follow !== true) {
      const which = server === undefined ? '' : ` of ${quoteText(server)}`;
      const among = all.length === 0 ? '' : ` among ${formatCount(all.length, 'line')}`;
      const isTerminal = process.stderr.isTTY;
      printError(formatProse(`No lines${which}${among}. \`assay serve\` logs to ${path}.`, { isTerminal }));
    }
    if (options.follow === true)
      await follow((line) => {
        if (isAsked(line)) show(line);
      });
    return ok(undefined);
  });
}
