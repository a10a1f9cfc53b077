// A server of the official SDK that records each execution of its tools in a file, over stdio or with `--http` over HTTP:
//   node counting-server.ts --record FILE [--http]
// Over HTTP, SIGUSR2 adds a tool and announces that the list changed.
import { appendFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { acceptedContent, createMcpHandler, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { listen } from '../../peers/listen.ts';

const { values } = parseArgs({
  options: { record: { type: 'string', default: '' }, http: { type: 'boolean', default: false } },
});
const INPUT = { inputSchema: z.object({ key: z.string(), ms: z.number() }) };
const ANSWER = z.object({ answer: z.string() });
const added: string[] = [];

if (values.http) serveHttp();
else serveStdio(createServer);

function createServer(): McpServer {
  const server = new McpServer(
    { name: 'counting', version: '1' },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.registerTool('look', { ...INPUT, annotations: { readOnlyHint: true } }, execute('look'));
  const idempotent = { readOnlyHint: false, destructiveHint: false, idempotentHint: true };
  server.registerTool('put', { ...INPUT, annotations: idempotent }, execute('put'));
  // The operator of the gateway overrides that it is idempotent.
  const undeclared = { readOnlyHint: false, destructiveHint: false };
  server.registerTool('merge', { ...INPUT, annotations: undeclared }, execute('merge'));
  server.registerTool('add', { ...INPUT, annotations: undeclared }, execute('add'));
  server.registerTool('ask', { ...INPUT, annotations: undeclared }, async ({ key, ms }, context) => {
    const given = acceptedContent(context.mcpReq.inputResponses, 'answer', ANSWER);
    if (given !== undefined) return await execute('ask')({ key: `${key} ${given.answer}`, ms });
    const question = inputRequired.elicit({ message: `answer ${key}`, requestedSchema: ANSWER });
    return inputRequired({ inputRequests: { answer: question } });
  });
  for (const name of added) server.registerTool(name, INPUT, execute(name));
  return server;
}

type Execute = (call: { readonly key: string; readonly ms: number }) => Promise<{
  content: { type: 'text'; text: string }[];
}>;

/** The effect is in the middle, so that a call may be lost before it and after it. */
function execute(tool: string): Execute {
  return async ({ key, ms }) => {
    await sleep(ms / 2);
    const text = `${tool} ${key}`;
    appendFileSync(values.record, `${text}\n`);
    await sleep(ms / 2);
    return { content: [{ type: 'text', text }] };
  };
}

function serveHttp(): void {
  const handler = createMcpHandler(createServer);
  const answer = toNodeHandler(handler);
  // Node sets method and URL on every server request, which its types do not reflect.
  listen((request, response) => void answer(request as Parameters<typeof answer>[0], response));
  process.on('SIGUSR2', () => {
    added.push(`added_${String(added.length + 1)}`);
    handler.notify.toolsChanged();
  });
}
