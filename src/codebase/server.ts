import { McpServer } from '@modelcontextprotocol/server';
import { VERSION } from '../core/version.ts';
import { registerResources } from './resources.ts';
import { createIndexRepositoryTool } from './tools/index-repository.ts';
import { createIndexStatusTool } from './tools/index-status.ts';
import { createSearchCodeTool } from './tools/search-code.ts';
import { createSetDirectoryTool } from './tools/set-working-directory.ts';
import { type CodebaseTool, registerTool } from './tools/tool.ts';
import type { ToolDeps } from './tools/tool-deps.ts';

const INSTRUCTIONS =
  'Searches source code by words, identifiers and questions. Call index_repository once for a repository, then ' +
  'search_code as often as you like: it is read-only, so several searches may run at once. Index again after ' +
  'larger edits; only changed files are read. index_status shows what is indexed.';

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
  ];
}
