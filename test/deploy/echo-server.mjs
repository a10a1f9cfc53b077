// A stdio MCP server without dependencies: `echo`, which only reads, and `orphan`, which leaves a process behind.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const object = { type: 'object', properties: { text: { type: 'string' } } };
const TOOLS = [
  {
    name: 'echo',
    description: 'Returns the text.',
    inputSchema: object,
    annotations: { readOnlyHint: true },
  },
  { name: 'orphan', description: 'Leaves a process that ends soon.', inputSchema: { type: 'object' } },
];

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'echo', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: TOOLS }),
  'tools/call': ({ name, arguments: { text = '' } = {} }) => {
    // The shell ends at once, so its child gets process 1 as its parent.
    if (name === 'orphan') spawn('sh', ['-c', 'sleep 0.2 &'], { stdio: 'ignore' });
    return {
      content: [{ type: 'text', text: `${text} from uid ${process.getuid?.()}, pid ${process.pid}` }],
    };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = answers[method];
  const reply = answer ? { result: answer(params) } : { error: { code: -32601, message: 'unknown method' } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`);
}
