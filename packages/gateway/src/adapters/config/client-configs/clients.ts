import {
  COMMAND_ONLY,
  HTTP_URL,
  OPENCODE,
  PLAIN,
  SERVER_URL,
  STREAMABLE,
  TYPED,
  ZED,
} from './entry-shapes.ts';
import type { EntryShape } from './entry-shapes.ts';

/** Base folders of paths; `locate-client.ts` locates them. */
export type Base = 'home' | 'config' | 'xdg' | 'packages' | 'claude' | 'codex' | 'gemini';

export type System = 'darwin' | 'linux' | 'win32';

/** Where a client stores the servers for all projects. */
export interface UserFile {
  readonly base: Base;
  /** Folders and file name, relative to the base. */
  readonly path: readonly string[];
  /** Number of path steps to the folder that exists if the client is installed; 0 if the file is in the base. */
  readonly ownFolder: number;
  /** Replaces `ownFolder` if another folder shows that the client is installed. */
  readonly installedFolder?: readonly string[];
  readonly systems?: readonly System[];
  /** If different from the client's usual one. */
  readonly shape?: EntryShape;
}

export interface Client {
  readonly id: string;
  readonly label: string;
  /** The client reads the first one whose folder exists; of several in one folder, those that exist. */
  readonly userFiles: readonly UserFile[];
  /** The file within a project. Undefined if the client has none. */
  readonly projectFile: readonly string[] | undefined;
  readonly format: 'json' | 'toml';
  /** Paths of the object that holds the servers. An entry is added to the last one that exists, else to the first. */
  readonly keys: readonly (readonly string[])[];
  /** How the client writes an entry. */
  readonly shape: EntryShape;
  /** How entries refer to environment variables, other than by `${NAME}`. */
  readonly references?: 'dollar' | 'braces';
  /** Unit of the key `timeout`. Undefined if the key does not limit calls. */
  readonly timeout?: 's' | 'ms';
  /** Path of a list with the names of servers that are switched off. */
  readonly offList?: readonly string[];
  /** Whether project servers are also under `projects` in the user's file, by folder. */
  readonly hasProjects?: true;
  /** How to make the client reload its file. */
  readonly next: string;
}

const CLINE_FOLDER = 'saoudrizwan.claude-dev';
const CLINE_FILE = 'cline_mcp_settings.json';

/** Clients with known config files, according to their documentation. */
export const CLIENTS: readonly Client[] = [
  {
    // https://modelcontextprotocol.io/docs/develop/connect-local-servers
    id: 'claude-desktop',
    label: 'Claude Desktop',
    userFiles: [
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
    format: 'json',
    keys: [['mcpServers']],
    shape: COMMAND_ONLY,
    next: 'Quit Claude Desktop, all its windows, and start it again.',
  },
  {
    // https://code.claude.com/docs/en/mcp
    id: 'claude-code',
    label: 'Claude Code',
    userFiles: [{ base: 'claude', path: ['.claude.json'], ownFolder: 0, installedFolder: ['.claude'] }],
    projectFile: ['.mcp.json'],
    format: 'json',
    keys: [['mcpServers']],
    shape: TYPED,
    hasProjects: true,
    next: 'Start a new session of Claude Code; `/mcp` shows its servers.',
  },
  {
    // https://cursor.com/docs/mcp
    id: 'cursor',
    label: 'Cursor',
    userFiles: [{ base: 'home', path: ['.cursor', 'mcp.json'], ownFolder: 1 }],
    projectFile: ['.cursor', 'mcp.json'],
    format: 'json',
    keys: [['mcpServers']],
    shape: PLAIN,
    next: 'Restart Cursor, and look under MCP in its settings whether the server is switched on.',
  },
  {
    // https://code.visualstudio.com/docs/copilot/reference/mcp-configuration
    id: 'vscode',
    label: 'VS Code',
    userFiles: [{ base: 'config', path: ['Code', 'User', 'mcp.json'], ownFolder: 1 }],
    projectFile: ['.vscode', 'mcp.json'],
    format: 'json',
    keys: [['servers']],
    shape: TYPED,
    next: 'Run "MCP: List Servers" in VS Code and start the server there.',
  },
  {
    // https://code.visualstudio.com/docs/configure/settings#_settings-file-locations
    id: 'vscode-insiders',
    label: 'VS Code Insiders',
    userFiles: [{ base: 'config', path: ['Code - Insiders', 'User', 'mcp.json'], ownFolder: 1 }],
    projectFile: ['.vscode', 'mcp.json'],
    format: 'json',
    keys: [['servers']],
    shape: TYPED,
    next: 'Run "MCP: List Servers" in VS Code and start the server there.',
  },
  {
    id: 'windsurf',
    label: 'Windsurf',
    userFiles: [
      // Since it was renamed to Devin Desktop: https://docs.devin.ai/desktop/cascade/mcp
      {
        base: 'home',
        path: ['.config', 'devin', 'mcp_config.json'],
        ownFolder: 2,
        systems: ['darwin', 'linux'],
      },
      { base: 'config', path: ['devin', 'mcp_config.json'], ownFolder: 1, systems: ['win32'] },
      // https://docs.windsurf.com/windsurf/cascade/mcp
      {
        base: 'home',
        path: ['.codeium', 'windsurf', 'mcp_config.json'],
        ownFolder: 1,
        shape: SERVER_URL,
      },
    ],
    projectFile: ['.devin', 'mcp_config.json'],
    format: 'json',
    keys: [['mcpServers']],
    shape: PLAIN,
    next: 'Press the refresh button in the MCP panel of Windsurf, or restart it.',
  },
  {
    // https://developers.openai.com/codex/mcp
    id: 'codex',
    label: 'Codex',
    userFiles: [{ base: 'codex', path: ['config.toml'], ownFolder: 0 }],
    projectFile: ['.codex', 'config.toml'],
    format: 'toml',
    keys: [['mcp_servers']],
    shape: PLAIN,
    next: 'Start a new session of Codex; `/mcp` shows its servers.',
  },
  {
    // https://geminicli.com/docs/tools/mcp-server
    id: 'gemini-cli',
    label: 'Gemini CLI',
    userFiles: [{ base: 'gemini', path: ['.gemini', 'settings.json'], ownFolder: 1 }],
    projectFile: ['.gemini', 'settings.json'],
    format: 'json',
    keys: [['mcpServers']],
    shape: HTTP_URL,
    references: 'dollar',
    timeout: 'ms',
    offList: ['mcp', 'excluded'],
    next: 'Start a new session of Gemini CLI; `/mcp` shows its servers.',
  },
  {
    // https://opencode.ai/docs/config
    id: 'opencode',
    label: 'opencode',
    userFiles: [
      { base: 'xdg', path: ['opencode', 'opencode.json'], ownFolder: 1 },
      { base: 'xdg', path: ['opencode', 'opencode.jsonc'], ownFolder: 1 },
    ],
    projectFile: ['opencode.json'],
    format: 'json',
    // Version 2 has them one level deeper, and version 1 reads both: https://opencode.ai/v2/docs/mcp-servers
    keys: [['mcp'], ['mcp', 'servers']],
    shape: OPENCODE,
    references: 'braces',
    next: 'Start opencode again; `opencode mcp list` shows its servers.',
  },
  {
    // https://zed.dev/docs/ai/mcp, https://zed.dev/docs/configuring-zed
    id: 'zed',
    label: 'Zed',
    userFiles: [
      { base: 'home', path: ['.config', 'zed', 'settings.json'], ownFolder: 2, systems: ['darwin'] },
      { base: 'config', path: ['zed', 'settings.json'], ownFolder: 1, systems: ['linux'] },
      { base: 'config', path: ['Zed', 'settings.json'], ownFolder: 1, systems: ['win32'] },
    ],
    projectFile: ['.zed', 'settings.json'],
    format: 'json',
    keys: [['context_servers']],
    shape: ZED,
    next: 'Look in the settings of the Agent Panel of Zed whether the dot beside the server is green.',
  },
  {
    id: 'cline',
    label: 'Cline',
    userFiles: [
      // Used by all its editions since 2026: https://docs.cline.bot/getting-started/config
      { base: 'home', path: ['.cline', 'data', 'settings', CLINE_FILE], ownFolder: 1 },
      // Used by older extensions for VS Code: https://github.com/cline/cline/pull/9630
      {
        base: 'config',
        path: ['Code', 'User', 'globalStorage', CLINE_FOLDER, 'settings', CLINE_FILE],
        ownFolder: 4,
      },
    ],
    projectFile: undefined,
    format: 'json',
    keys: [['mcpServers']],
    shape: STREAMABLE,
    timeout: 's',
    next: 'Look under MCP Servers in Cline whether the server is switched on.',
  },
];
