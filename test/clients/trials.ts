import { join } from 'node:path';

/** The folder in which the trials run. */
export interface Place {
  /** The folder in which the clients are installed. */
  readonly folder: string;
  /** The home folder of the user that the clients see. */
  readonly home: string;
  /** Arguments of Node for a command of Assay. */
  readonly assay: (...args: readonly string[]) => readonly string[];
  readonly http: string;
  readonly sse: string;
  readonly stdio: { readonly command: string; readonly args: readonly string[] };
}

/** What a client reported. A member is undefined if its command line does not show it. */
export interface Seen {
  readonly connects?: boolean;
  readonly tools?: readonly string[];
  /** The result of the call as text. */
  readonly text?: string;
}

export interface Trial {
  readonly client: string;
  readonly package: string;
  readonly way: 'http' | 'sse' | 'stdio';
  readonly command: (place: Place) => { readonly file: string; readonly args: readonly string[] };
  readonly env?: Readonly<Record<string, string>>;
  /** The input of probe.mjs. */
  readonly ways: (place: Place) => object;
  readonly read: (output: string) => Seen;
}

type Way = Trial['way'];

const LIBRARIES: readonly (readonly [client: string, library: string, name: string, ways: readonly Way[]])[] =
  [
    ['MCP TypeScript SDK 1.x', 'sdk-1', '@modelcontextprotocol/sdk', ['stdio', 'http', 'sse']],
    ['MCP TypeScript SDK 2.x', 'client-2', '@modelcontextprotocol/client', ['stdio', 'http']],
    ['OpenAI Agents SDK', 'openai-agents', '@openai/agents', ['stdio', 'http', 'sse']],
    ['Vercel AI SDK', 'ai-sdk', '@ai-sdk/mcp', ['stdio', 'http', 'sse']],
    ['LangChain adapters', 'langchain', '@langchain/mcp-adapters', ['stdio', 'http', 'sse']],
    ['Mastra', 'mastra', '@mastra/mcp', ['stdio', 'http']],
  ];

/** Programs through which clients that only support stdio reach a URL. */
const BRIDGES: readonly (readonly [
  name: string,
  file: string,
  args: (place: Place, way: Way) => readonly string[],
])[] = [
  [
    'mcp-remote',
    'dist/proxy.js',
    (place, way) => [
      way === 'sse' ? place.sse : place.http,
      '--allow-http',
      ...['--transport', way === 'sse' ? 'sse-only' : 'http-only'],
    ],
  ],
  [
    'supergateway',
    'dist/index.js',
    (place, way) => (way === 'sse' ? ['--sse', place.sse] : ['--streamableHttp', place.http]),
  ],
];

interface Program {
  readonly client: string;
  readonly package: string;
  /** Its id in `assay connect`. */
  readonly id: string;
  /** Command that shows whether the servers of the config are reachable. */
  readonly list: string;
  readonly isConnected: RegExp;
  readonly env?: Readonly<Record<string, string>>;
}

const PROGRAMS: readonly Program[] = [
  {
    client: 'Claude Code (`claude mcp list`)',
    package: '@anthropic-ai/claude-code',
    id: 'claude-code',
    list: 'claude mcp list',
    isConnected: /assay: .*Connected/,
  },
  {
    client: 'Gemini CLI (`gemini mcp list`)',
    package: '@google/gemini-cli',
    id: 'gemini-cli',
    list: 'gemini mcp list',
    isConnected: /assay: .*Connected/,
    env: { GEMINI_CLI_TRUST_WORKSPACE: 'true' },
  },
  {
    client: 'opencode (`opencode mcp list`)',
    package: 'opencode-ai',
    id: 'opencode',
    list: 'opencode mcp list',
    isConnected: /✓ assay/,
  },
];

export const PACKAGES: readonly string[] = [
  ...LIBRARIES.map(([, , name]) => name),
  ...BRIDGES.map(([name]) => name),
  ...PROGRAMS.map((program) => program.package),
  ...['@modelcontextprotocol/inspector', '@langchain/core', 'ai', 'zod'],
];

export const TRIALS: readonly Trial[] = [
  ...LIBRARIES.flatMap(([client, library, name, ways]) =>
    ways.map((way): Trial => {
      return {
        client,
        package: name,
        way,
        command: ({ folder }) => ({
          file: process.execPath,
          args: [join(folder, 'probe.mjs'), library, way],
        }),
        ways: ({ http, sse, stdio }) => ({ http, sse, stdio }),
        read: readProbe,
      };
    }),
  ),
  ...BRIDGES.flatMap(([name, file, args]) =>
    (['http', 'sse'] as const).map((way): Trial => {
      return {
        client: `${name}, in front of SDK 1.x`,
        package: name,
        way,
        command: ({ folder }) => ({
          file: process.execPath,
          args: [join(folder, 'probe.mjs'), 'bridge', way],
        }),
        ways: (place) => {
          const program = join(place.folder, 'node_modules', name, file);
          return { bridge: { command: process.execPath, args: [program, ...args(place, way)] } };
        },
        read: readProbe,
      };
    }),
  ),
  ...(['http', 'sse'] as const).map((way): Trial => {
    return {
      client: 'MCP Inspector (`--cli`)',
      package: '@modelcontextprotocol/inspector',
      way,
      command: (place) => {
        const inspect = `mcp-inspector --cli ${way === 'sse' ? place.sse : place.http} --transport ${way} --method`;
        const call = 'tools/call --tool-name everything_echo --tool-arg message=hello';
        return shell(place, `${inspect} tools/list && echo ${CUT} && ${inspect} ${call}`);
      },
      ways: () => ({}),
      read: (output) => {
        const [list = '', text = ''] = output.split(CUT);
        return { connects: true, tools: namesIn(list), text };
      },
    };
  }),
  ...PROGRAMS.flatMap(({ client, id, list, isConnected, ...rest }) =>
    (['stdio', 'http'] as const).map((way): Trial => {
      return {
        client,
        ...rest,
        way,
        command: (place) => {
          const address = way === 'http' ? ['--http', place.http] : ['--all'];
          const connect = [process.execPath, ...place.assay('connect', id, '--force', ...address)];
          return shell(place, `${connect.join(' ')} > /dev/null 2>&1; cd "$HOME" && ${list} 2>&1`);
        },
        ways: () => ({}),
        read: (output) => ({ connects: isConnected.test(output) }),
      };
    }),
  ),
];

const CUT = '--- the call ---';

function shell({ folder }: Place, line: string): ReturnType<Trial['command']> {
  const programs = join(folder, 'node_modules', '.bin');
  return { file: '/bin/sh', args: ['-c', `PATH="${programs}:$PATH"; ${line}`] };
}

function readProbe(output: string): Seen {
  const line = output.split('\n').find((one) => one.startsWith('{"tools"'));
  if (line === undefined) return {};
  const { tools, text } = JSON.parse(line) as { readonly tools: readonly string[]; readonly text: string };
  return { connects: true, tools, text };
}

function namesIn(list: string): readonly string[] {
  const { tools } = JSON.parse(list) as { readonly tools: readonly { readonly name: string }[] };
  return tools.map(({ name }) => name);
}
