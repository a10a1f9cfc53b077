// Lists all tools through one client library and calls one. Copied into the folder where the libraries are installed.
// node probe.mjs LIBRARY WAY, with {http, sse, stdio, bridge} as JSON in ASSAY_WAYS; prints {tools, text} as JSON.

const [library = '', way = ''] = process.argv.slice(2);
const ways = JSON.parse(process.env.ASSAY_WAYS ?? '{}');
const CALL = { name: 'everything_echo', arguments: { message: 'hello' } };

const LIBRARIES = {
  'sdk-1': async () => firstClient(await firstTransport()),
  'client-2': async () => {
    const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
    const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
    const client = new Client(NAME, { versionNegotiation: { mode: 'auto' } });
    await client.connect(
      way === 'stdio'
        ? new StdioClientTransport({ ...ways.stdio, stderr: 'ignore' })
        : new StreamableHTTPClientTransport(new URL(ways[way])),
    );
    const { tools } = await client.listTools();
    return { tools: tools.map(({ name }) => name), result: await client.callTool(CALL) };
  },
  'openai-agents': async () => {
    const agents = await import('@openai/agents');
    const server = {
      stdio: () => new agents.MCPServerStdio({ ...ways.stdio, name: 'assay' }),
      http: () => new agents.MCPServerStreamableHttp({ url: ways.http, name: 'assay' }),
      sse: () => new agents.MCPServerSSE({ url: ways.sse, name: 'assay' }),
    }[way]();
    await server.connect();
    const tools = await server.listTools();
    return {
      tools: tools.map(({ name }) => name),
      result: await server.callTool(CALL.name, CALL.arguments),
    };
  },
  'ai-sdk': async () => {
    const { createMCPClient } = await import('@ai-sdk/mcp');
    const { Experimental_StdioMCPTransport: Stdio } = await import('@ai-sdk/mcp/mcp-stdio');
    const transport = way === 'stdio' ? new Stdio(ways.stdio) : { type: way, url: ways[way] };
    const client = await createMCPClient({ transport });
    const tools = await client.tools();
    const options = { toolCallId: '1', messages: [] };
    return { tools: Object.keys(tools), result: await tools[CALL.name].execute(CALL.arguments, options) };
  },
  langchain: async () => {
    const { MultiServerMCPClient } = await import('@langchain/mcp-adapters');
    const assay =
      way === 'stdio' ? { transport: 'stdio', ...ways.stdio } : { transport: way, url: ways[way] };
    const client = new MultiServerMCPClient({ mcpServers: { assay } });
    const tools = await client.getTools();
    const tool = tools.find(({ name }) => name === CALL.name);
    return { tools: tools.map(({ name }) => name), result: await tool.invoke(CALL.arguments) };
  },
  mastra: async () => {
    const { MCPClient } = await import('@mastra/mcp');
    const assay = way === 'stdio' ? ways.stdio : { url: new URL(ways[way]) };
    const client = new MCPClient({ servers: { assay } });
    const tools = await client.listTools();
    const names = Object.keys(tools);
    const result = await tools[`assay_${CALL.name}`].execute(CALL.arguments, {});
    return { tools: names.map((name) => name.replace(/^assay_/, '')), result };
  },
  /** A program between a client that knows only stdio and an address. */
  bridge: async () => {
    const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    return firstClient(new StdioClientTransport({ ...ways.bridge, stderr: 'ignore' }));
  },
};

const NAME = { name: 'assay-trial', version: '1' };

async function firstTransport() {
  const sdk = '@modelcontextprotocol/sdk/client';
  if (way === 'stdio') {
    const { StdioClientTransport } = await import(`${sdk}/stdio.js`);
    return new StdioClientTransport({ ...ways.stdio, stderr: 'ignore' });
  }
  if (way === 'sse') {
    const { SSEClientTransport } = await import(`${sdk}/sse.js`);
    return new SSEClientTransport(new URL(ways.sse));
  }
  const { StreamableHTTPClientTransport } = await import(`${sdk}/streamableHttp.js`);
  return new StreamableHTTPClientTransport(new URL(ways.http));
}

async function firstClient(transport) {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const client = new Client(NAME);
  await client.connect(transport);
  const { tools } = await client.listTools();
  return { tools: tools.map(({ name }) => name), result: await client.callTool(CALL) };
}

const { tools, result } = await LIBRARIES[library]();
process.stdout.write(`${JSON.stringify({ tools, text: JSON.stringify(result) })}\n`, () => process.exit(0));
