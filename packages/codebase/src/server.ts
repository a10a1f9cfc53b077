import { McpServer } from '@modelcontextprotocol/server';
import { VERSION } from '@assay-mcp/kit/version';
import { createFindSymbolTool } from './tools/find-symbol.ts';
import { createIndexRepositoryTool } from './tools/index-repository.ts';
import { createIndexStatusTool } from './tools/index-status.ts';
import { createOutlineTool } from './tools/outline.ts';
import { createSearchCodeTool } from './tools/search-code.ts';
import { createSetDirectoryTool } from './tools/set-working-directory.ts';
import type { ToolDeps } from './tools/tool-deps.ts';
import { type CodebaseTool, registerTool } from './tools/tool.ts';

const INSTRUCTIONS =
  'Searches source code by words, identifiers and questions. Call index_repository once for a repository, then ' +
  'search_code as often as you like: it is read-only, so several searches may run at once. Edits are ' +
  'indexed in the background if index_status says that the repository is watched; otherwise index again after larger ' +
  'ones: only changed files are read. If you know the name of a function or class, find_symbol shows its definition ' +
  'and uses in one call; outline lists the symbols of a file.';

/** The MCP server, before it is connected. The servers of one process share `deps`. */
export function createCodebaseServer(deps: ToolDeps): McpServer {
  const server = new McpServer(
    { name: 'assay-codebase', title: 'Assay code search', version: VERSION },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS },
  );
  for (const tool of createCodebaseTools(deps)) registerTool(server, tool, deps.counters);
  registerResources(server, deps);
  return server;
}

export function createCodebaseTools(deps: ToolDeps): readonly CodebaseTool[] {
  return [
    createIndexRepositoryTool(deps),
    createSearchCodeTool(deps),
    createSetDirectoryTool(deps),
    createIndexStatusTool(deps),
    createFindSymbolTool(deps),
    createOutlineTool(deps),
  ];
}

const HEALTH = 'health://status';
const METRICS = 'metrics://prometheus';

/** Resources for monitoring by operators. Reading one changes nothing. */
function registerResources(server: McpServer, { folders, codebase, counters }: ToolDeps): void {
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
