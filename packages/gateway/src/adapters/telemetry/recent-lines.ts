import { removeControls } from '@assay-mcp/kit/stderr-error';
import type { Log } from '../../gateway/ports/log.ts';
import type { RecentLine, RecentLines } from '../../gateway/ports/recent-lines.ts';
import { truncateText } from '@assay-mcp/kit/shorten';

/** Lines kept per server. */
export const MAX_LINES = 200;
/** Characters kept of a line. */
export const MAX_LINE_LENGTH = 1_000;
/** Maximum number of servers whose lines are kept; the one silent for longest is dropped first. */
const MAX_SERVERS = 500;

interface RecentLog {
  readonly log: Log;
  readonly recent: RecentLines;
}

interface RecentLineOptions {
  /** Masks the secrets in a text. */
  readonly mask: (text: string) => string;
  readonly nowMs: () => number;
}

/** Keeps the last log lines about each server in memory. */
export function withRecentLines(log: Log, { mask, nowMs }: RecentLineOptions): RecentLog {
  const servers = new Map<string, RecentLine[]>();
  let id = 0;
  const keep = (server: string, line: Pick<RecentLine, 'level' | 'from' | 'text'>): void => {
    const lines = servers.get(server) ?? [];
    // Keeps the map ordered by last line.
    servers.delete(server);
    servers.set(server, lines);
    const [quietest] = servers.keys();
    if (servers.size > MAX_SERVERS && quietest !== undefined) servers.delete(quietest);
    id += 1;
    // Masked before it is cut, so that no part of a secret remains.
    const text = truncateText(removeControls(mask(line.text)), MAX_LINE_LENGTH);
    lines.push({ ...line, id, atMs: nowMs(), text });
    if (lines.length > MAX_LINES) lines.shift();
  };
  const at =
    (level: RecentLine['level']): Log[typeof level] =>
    (message, fields) => {
      log[level](message, fields);
      const server = fields?.['server'];
      if (typeof server === 'string') keep(server, { level, from: 'assay', text: textOf(message, fields) });
    };
  return {
    log: {
      debug: (message, fields) => {
        log.debug(message, fields);
        const { server, stream, text } = fields ?? {};
        if (stream === 'stderr' && typeof server === 'string')
          keep(server, { level: 'info', from: 'stderr', text: String(text) });
      },
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
    },
    recent: { of: (server) => servers.get(server) ?? [] },
  };
}

function textOf(message: string, { cause }: Readonly<Record<string, unknown>> = {}): string {
  return typeof cause === 'string' ? `${message}: ${cause}` : message;
}
