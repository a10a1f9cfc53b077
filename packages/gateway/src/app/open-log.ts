import { join } from 'node:path';
import { toConfigEnvironment } from '@assay-mcp/kit/platform/locate-config';
import { locateHome } from '@assay-mcp/kit/platform/locate-home';
import { formatTerminalLine } from '../adapters/telemetry/terminal-line.ts';
import type { AppOptions } from '../core/command-options.ts';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import type { Refusal } from '../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { LogLine, OpenLog } from '../edges/cli/runtime.ts';
import { followRotating, readRotating } from '@assay-mcp/kit/platform/rotating-file';
import { waitForStop } from '@assay-mcp/kit/platform/stop-signals';
import { LOG_FILE } from './environment.ts';

/** Opens the log that `serve` keeps in the home, to read it. */
export async function openHomeLog(options: AppOptions): Promise<Result<OpenLog, Refusal>> {
  const path = join(locateHome(toConfigEnvironment(options)), LOG_FILE);
  const { lines, position } = await readRotating(path);
  return ok({
    path,
    lines: lines.flatMap(logLine),
    follow: (onLine) => {
      const stopping = new AbortController();
      void waitForStop().then(() => stopping.abort());
      return followRotating(path, {
        from: position,
        onLine: (line) => logLine(line).forEach(onLine),
        signal: stopping.signal,
      });
    },
    close: () => Promise.resolve(),
  });
}

/** Empty for a line that a crash cut off. */
function logLine(json: string): readonly LogLine[] {
  try {
    const entry: unknown = JSON.parse(json);
    const server = isJsonObject(entry) && typeof entry['server'] === 'string' ? entry['server'] : undefined;
    const text = formatTerminalLine(json, process.stdout.isTTY && process.stdout.hasColors()).trimEnd();
    return [{ server, json, text }];
  } catch {
    return [];
  }
}
