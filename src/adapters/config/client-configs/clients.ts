/** Base folders of paths. `config` is where each system keeps application settings. */
export type Base = 'home' | 'config' | 'packages' | 'claude';

export type System = 'darwin' | 'linux' | 'win32';

/** Where a client stores the servers for all projects. */
export interface UserPlace {
  readonly base: Base;
  /** Folders and file name, relative to the base. */
  readonly path: readonly string[];
  /** Number of path steps to the folder that exists if the client is installed; 0 if the file is in the base. */
  readonly ownFolder: number;
  /** Replaces `ownFolder` if another folder shows that the client is installed. */
  readonly sign?: readonly string[];
  readonly systems?: readonly System[];
  /** The key for a URL, if different from the client's usual one. */
  readonly urlKey?: 'url';
}

export interface Client {
  readonly id: string;
  readonly label: string;
  /** The client reads the first one whose folder exists. */
  readonly places: readonly UserPlace[];
  /** The file within a project. Undefined if the client has none. */
  readonly projectFile: readonly string[] | undefined;
  readonly key: 'mcpServers' | 'servers';
  /** Whether entries have a `type`. */
  readonly isTyped: boolean;
  /** The key for a URL. Undefined if the client supports only commands. */
  readonly urlKey: 'url' | 'serverUrl' | undefined;
  /** Whether project servers are also under `projects` in the user's file, by folder. */
  readonly hasProjects: boolean;
  /** How to make the client reload its file. */
  readonly next: string;
}

/** Clients with known config files, according to their documentation. */
export const CLIENTS: readonly Client[] = [
  {
    // https://modelcontextprotocol.io/docs/develop/connect-local-servers
    id: 'claude-desktop',
    label: 'Claude Desktop',
    places: [
      {
        // Windows stores the settings of packaged applications separately; they do not see %APPDATA%\Claude:
        // https://github.com/anthropics/claude-code/issues/26073
        base: 'packages',
        path: ['Claude_pzs8sxrjxfjjc', 'LocalCache', 'Roaming', 'Claude', 'claude_desktop_config.json'],
        ownFolder: 1,
        systems: ['win32'],
      },
      { base: 'config', path: ['Claude', 'claude_desktop_config.json'], ownFolder: 1 },
    ],
    projectFile: undefined,
    key: 'mcpServers',
    isTyped: false,
    urlKey: undefined,
    hasProjects: false,
    next: 'Quit Claude Desktop, all its windows, and start it again.',
  },
  {
    // https://code.claude.com/docs/en/mcp
    id: 'claude-code',
    label: 'Claude Code',
    places: [{ base: 'claude', path: ['.claude.json'], ownFolder: 0, sign: ['.claude'] }],
    projectFile: ['.mcp.json'],
    key: 'mcpServers',
    isTyped: true,
    urlKey: 'url',
    hasProjects: true,
    next: 'Start a new session of Claude Code; `/mcp` shows its servers.',
  },
  {
    // https://cursor.com/docs/mcp
    id: 'cursor',
    label: 'Cursor',
    places: [{ base: 'home', path: ['.cursor', 'mcp.json'], ownFolder: 1 }],
    projectFile: ['.cursor', 'mcp.json'],
    key: 'mcpServers',
    isTyped: false,
    urlKey: 'url',
    hasProjects: false,
    next: 'Restart Cursor, and look under MCP in its settings whether the server is switched on.',
  },
  {
    // https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
    id: 'vscode',
    label: 'VS Code',
    places: [{ base: 'config', path: ['Code', 'User', 'mcp.json'], ownFolder: 1 }],
    projectFile: ['.vscode', 'mcp.json'],
    key: 'servers',
    isTyped: true,
    urlKey: 'url',
    hasProjects: false,
    next: 'Run "MCP: List Servers" in VS Code and start the server there.',
  },
  {
    // https://code.visualstudio.com/docs/configure/settings#_settings-file-locations
    id: 'vscode-insiders',
    label: 'VS Code Insiders',
    places: [{ base: 'config', path: ['Code - Insiders', 'User', 'mcp.json'], ownFolder: 1 }],
    projectFile: ['.vscode', 'mcp.json'],
    key: 'servers',
    isTyped: true,
    urlKey: 'url',
    hasProjects: false,
    next: 'Run "MCP: List Servers" in VS Code and start the server there.',
  },
  {
    id: 'windsurf',
    label: 'Windsurf',
    places: [
      // Since it was renamed to Devin Desktop: https://docs.devin.ai/desktop/cascade/mcp
      {
        base: 'home',
        path: ['.config', 'devin', 'mcp_config.json'],
        ownFolder: 2,
        systems: ['darwin', 'linux'],
        urlKey: 'url',
      },
      { base: 'config', path: ['devin', 'mcp_config.json'], ownFolder: 1, systems: ['win32'], urlKey: 'url' },
      // https://docs.windsurf.com/windsurf/cascade/mcp
      { base: 'home', path: ['.codeium', 'windsurf', 'mcp_config.json'], ownFolder: 1 },
    ],
    projectFile: ['.devin', 'mcp_config.json'],
    key: 'mcpServers',
    isTyped: false,
    urlKey: 'serverUrl',
    hasProjects: false,
    next: 'Press the refresh button in the MCP panel of Windsurf, or restart it.',
  },
];
