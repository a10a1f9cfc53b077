import { formatCount } from '../../core/counted.ts';
import { ok } from '../../core/result.ts';
import { printError, printLine, printText, formatProse, quoteText } from './output.ts';
import type { LogLine, Runtime } from './runtime.ts';
import { type JsonOptions, withOpened } from './with-opened.ts';

export interface LogsOptions extends JsonOptions {
  readonly follow?: boolean;
  readonly lines: number;
}

/** `assay logs [SERVER]`: the last lines of the log of `assay serve`, and with `--follow` new ones. */
export function showLogs(
  runtime: Runtime,
  server: string | undefined,
  options: LogsOptions,
): Promise<number> {
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
