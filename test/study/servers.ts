/** A server of the study: its package, and how it is started. */
export interface StudyServer {
  /** Also the name of its files in `fixtures/`. */
  readonly name: string;
  /** The npm package; the explanations apply to this version. */
  readonly package: string;
  readonly version: string;
  /** The program, relative to the folder of the package. */
  readonly main: string;
  /** `{seed}` is replaced with the folder of the seed data. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** What its tools need that a sandbox lacks; they do not count toward the coverage. */
  readonly needs?: 'the internet' | 'a browser' | 'a cluster';
  /** Tools that work without it. */
  readonly worksWithout?: readonly string[];
  /** Whether the seed data is a Git repository with two commits. */
  readonly inRepository?: boolean;
}

export const SERVERS: readonly StudyServer[] = [
  {
    name: 'filesystem',
    package: '@modelcontextprotocol/server-filesystem',
    version: '2026.8.31',
    main: 'dist/index.js',
    args: ['{seed}'],
  },
  {
    name: 'memory',
    package: '@modelcontextprotocol/server-memory',
    version: '2026.8.31',
    main: 'dist/index.js',
    env: { MEMORY_FILE_PATH: '{seed}/memory.jsonl' },
  },
  {
    name: 'everything',
    package: '@modelcontextprotocol/server-everything',
    version: '2026.8.31',
    main: 'dist/index.js',
  },
  {
    name: 'sequential-thinking',
    package: '@modelcontextprotocol/server-sequential-thinking',
    version: '2026.8.31',
    main: 'dist/index.js',
  },
  {
    name: 'git',
    package: '@cyanheads/git-mcp-server',
    version: '2.15.3',
    main: 'dist/index.js',
    env: { GIT_BASE_DIR: '{seed}', GIT_SIGN_COMMITS: 'false' },
    inRepository: true,
  },
  {
    name: 'sqlite',
    package: 'mcp-server-sqlite-npx',
    version: '0.8.0',
    main: 'dist/index.js',
    args: ['{seed}/database.db'],
  },
  { name: 'commands', package: 'mcp-server-commands', version: '0.5.0', main: 'build/index.js' },
  { name: 'eslint', package: '@eslint/mcp', version: '0.3.13', main: 'src/mcp-cli.js' },
  { name: 'excel', package: '@negokaz/excel-mcp-server', version: '0.12.0', main: 'dist/launcher.js' },
  {
    name: 'context7',
    package: '@upstash/context7-mcp',
    version: '4.1.1',
    main: 'dist/index.js',
    needs: 'the internet',
  },
  {
    name: 'fetch',
    package: 'mcp-fetch-server',
    version: '1.1.2',
    main: 'dist/index.js',
    needs: 'the internet',
  },
  {
    name: 'chart',
    package: '@antv/mcp-server-chart',
    version: '0.9.10',
    main: 'build/index.js',
    needs: 'the internet',
  },
  {
    name: 'playwright',
    package: '@playwright/mcp',
    version: '0.0.83',
    main: 'cli.js',
    needs: 'a browser',
  },
  {
    name: 'chrome-devtools',
    package: 'chrome-devtools-mcp',
    version: '1.11.0',
    main: 'build/src/bin/chrome-devtools-mcp.js',
    needs: 'a browser',
  },
  {
    name: 'kubernetes',
    package: 'mcp-server-kubernetes',
    version: '4.1.7',
    main: 'dist/index.js',
    env: { KUBECONFIG: '{seed}/kubeconfig.json' },
    needs: 'a cluster',
  },
  {
    name: 'agent-filesystem',
    package: '@agent-infra/mcp-server-filesystem',
    version: '1.2.29',
    main: 'dist/index.cjs',
    args: ['--allowed-directories', '{seed}'],
  },
  {
    name: 'agent-commands',
    package: '@agent-infra/mcp-server-commands',
    version: '1.2.18',
    main: 'dist/index.cjs',
  },
  {
    name: 'memory-bank',
    package: '@allpepper/memory-bank-mcp',
    version: '0.2.2',
    main: 'dist/main/index.js',
    env: { MEMORY_BANK_ROOT: '{seed}' },
  },
  { name: 'calc', package: '@coo-quack/calc-mcp', version: '2.1.1', main: 'dist/index.js' },
  {
    name: 'knowledge-graph',
    package: '@itseasy21/mcp-knowledge-graph',
    version: '1.0.7',
    main: 'dist/index.js',
    args: ['--memory-path', '{seed}/memory.jsonl'],
  },
  {
    name: 'task-manager',
    package: '@kazuph/mcp-taskmanager',
    version: '1.1.1',
    main: 'dist/index.js',
    env: { TASK_MANAGER_FILE_PATH: '{seed}/tasks.json' },
  },
  { name: 'pdf-reader', package: '@sylphlab/pdf-reader-mcp', version: '0.3.23', main: 'dist/src/index.js' },
  {
    name: 'dex',
    package: '@zeeg/dex',
    version: '0.16.0',
    main: 'dist/index.js',
    args: ['mcp', '--storage-path', '{seed}/.dex'],
  },
  {
    name: 'thinking-tools',
    package: 'mcp-sequentialthinking-tools',
    version: '0.0.3',
    main: 'dist/index.js',
  },
  { name: 'time', package: 'time-mcp', version: '1.0.6', main: 'dist/index.js' },
];
