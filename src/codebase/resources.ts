import type { McpServer } from '@modelcontextprotocol/server';
import { VERSION } from '../core/version.ts';
import type { ToolDeps } from './tools/tool-deps.ts';

const HEALTH = 'health://status';
const METRICS = 'metrics://prometheus';

/** Resources for monitoring by operators. Reading one changes nothing. */
export function registerResources(server: McpServer, { folders, codebase, counters }: ToolDeps): void {
  server.registerResource(
    'health',
    HEALTH,
    { title: 'Health', description: 'The state of this process.', mimeType: 'application/json' },
    async () => {
      const state = {
        status: 'ok',
        version: VERSION,
        uptime_seconds: Math.round(process.uptime()),
        projects: (await folders.all()).length,
        runs: codebase.runs,
        calls: counters.calls,
        resident_memory_bytes: process.memoryUsage.rss(),
      };
      return { contents: [{ uri: HEALTH, mimeType: 'application/json', text: JSON.stringify(state) }] };
    },
  );
  const mimeType = 'text/plain; version=0.0.4';
  server.registerResource(
    'metrics',
    METRICS,
    { title: 'Metrics', description: 'Counters in the Prometheus text format.', mimeType },
    () => ({ contents: [{ uri: METRICS, mimeType, text: counters.prometheus() }] }),
  );
}
