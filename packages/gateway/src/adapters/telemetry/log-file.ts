import type { Log } from '../../gateway/ports/log.ts';
import { RotatingFile } from '@assay-mcp/kit/platform/rotating-file';
import { openLog } from './log.ts';

export interface LogFileOptions {
  readonly path: string;
  /** Masks the secrets in a text. */
  readonly mask: (text: string) => string;
}

interface KeptLog {
  readonly log: Log;
  readonly close: () => Promise<void>;
}

/** Maximum size of the file, and of its predecessor. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Also writes the log to a file: JSON lines from `info` up, and what servers write to stderr, which the log itself
 * shows only at `debug`.
 */
export function withLogFile(log: Log, { path, mask }: LogFileOptions): KeptLog {
  const file = new RotatingFile(path, MAX_BYTES);
  const kept = openLog({ level: 'info', terminal: undefined, mask, write: (line) => file.write(line) });
  const both =
    (level: 'info' | 'warn' | 'error'): Log[typeof level] =>
    (message, fields) => {
      log[level](message, fields);
      kept[level](message, fields);
    };
  return {
    log: {
      debug: (message, fields) => {
        log.debug(message, fields);
        if (fields?.['stream'] === 'stderr') kept.info(message, fields);
      },
      info: both('info'),
      warn: both('warn'),
      error: both('error'),
    },
    close: () => file.flush(),
  };
}
