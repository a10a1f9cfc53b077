import { setTimeout as sleep } from 'node:timers/promises';
import type { CallToolResult, McpServer, ServerContext } from '@modelcontextprotocol/server';

const STEP_MS = 50;

/** Tools that send something before their result. */
export function offerSpeakingTools(server: McpServer): void {
  server.registerTool('test_tool_with_logging', { description: 'Logs thrice.' }, async (context) => {
    await context.mcpReq.log('info', 'Tool execution started');
    await sleep(STEP_MS);
    await context.mcpReq.log('info', 'Tool processing data');
    await sleep(STEP_MS);
    await context.mcpReq.log('info', 'Tool execution completed');
    return done('Logged thrice.');
  });
  server.registerTool('test_logging_tool', { description: 'Logs once.' }, async (context) => {
    await context.mcpReq.log('info', 'A tool was called');
    return done('Logged once.');
  });
  server.registerTool('test_tool_with_progress', { description: 'Tells its progress.' }, async (context) => {
    await tellProgress(context, 0);
    await sleep(STEP_MS);
    await tellProgress(context, 50);
    await sleep(STEP_MS);
    await tellProgress(context, 100);
    return done('Came to 100 of 100.');
  });
  server.registerTool(
    'test_reconnection',
    { description: 'Closes the stream of its call, and answers on the one that goes on with it.' },
    async (context) => {
      // A proxy that answers silent calls with JSON would have no stream to show.
      await context.mcpReq.log('info', 'The stream is about to be closed');
      context.http?.closeSSE?.();
      await sleep(2 * STEP_MS);
      return done('Answered after the stream was closed.');
    },
  );
}

async function tellProgress(context: ServerContext, progress: number): Promise<void> {
  const progressToken = context.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return;
  await context.mcpReq.notify({
    method: 'notifications/progress',
    params: { progressToken, progress, total: 100 },
  });
}

function done(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}
