/** Folders that places start from. `config` is where applications keep their settings on each system. */
export type Base = 'home' | 'config' | 'packages' | 'claude';

export type System = 'darwin' | 'linux' | 'win32';

/** Where a client keeps its servers for all projects. */
export interface UserPlace {
  readonly base: Base;
  /** Folders and file, from the base. */
  readonly path: readonly string[];
  /** How many steps of the path lead to the folder that is there when the client is; 0: the file itself lies in the base. */
  readonly ownFolder: number;
  /** Instead of `ownFolder`, where another folder tells that the client is there. */
  readonly sign?: readonly string[];
  readonly systems?: readonly System[];
  /** The key of an address, where it is not the client's usual one. */
  readonly urlKey?: 'url';
}

export interface Client {
  readonly id: string;
  readonly label: string;
  /** The first whose folder is there is the one that the client reads. */
  readonly places: readonly UserPlace[];
  /** The file in a project; undefined where the client has none. */
  readonly projectFile: readonly string[] | undefined;
  readonly key: 'mcpServers' | 'servers';
  /** Whether entries say their `type`. */
  readonly isTyped: boolean;
  /** The key of an address; undefined where only commands can be given. */
  readonly urlKey: 'url' | 'serverUrl' | undefined;
  /** Whether servers for one project also stand under `projects` in the user's file, by folder. */
  readonly hasProjects: boolean;
  /** What makes the client read its file again. */
  readonly next: string;
}

/** The clients whose config files are known, as their own documentation describes them. */
export const CLIENTS: readonly Client[] = [
  {
    // https://modelcontextprotocol.io/docs/develop/connect-local-servers
    id: 'claude-desktop',
    label: 'Claude Desktop',
    places: [
      {
        // Windows keeps the settings of a packaged application apart, and that one does not see %APPDATA%\Claude:
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
      // Since it is called Devin Desktop: https://docs.devin.ai/desktop/cascade/mcp
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
