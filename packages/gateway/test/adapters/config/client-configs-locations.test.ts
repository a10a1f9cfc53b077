import { describe, expect, it } from 'vitest';
import { CLIENTS } from '../../../src/adapters/config/client-configs/clients.ts';
import {
  findProjectFile,
  listUserFiles,
  type Machine,
} from '../../../src/adapters/config/client-configs/locate-client.ts';

const MAC: Machine = { platform: 'darwin', env: {}, home: '/Users/ada' };
const LINUX: Machine = { platform: 'linux', env: {}, home: '/home/ada' };
const WINDOWS: Machine = {
  platform: 'win32',
  env: { APPDATA: 'D:\\Roaming', LOCALAPPDATA: 'D:\\Local' },
  home: 'C:\\Users\\Ada',
};

function clientOf(id: string) {
  return CLIENTS.find((client) => client.id === id)!;
}

function check(id: string, machine: Machine, expected: readonly string[]): void {
  expect(listUserFiles(clientOf(id), machine).map(({ path }) => path)).toEqual(expected);
}

describe("a client's user-level config file", () => {
  it('Claude Desktop: is in the application settings; on Windows, the packaged application comes first', () => {
    check('claude-desktop', MAC, [
      '/Users/ada/Library/Application Support/Claude/claude_desktop_config.json',
    ]);
    check('claude-desktop', LINUX, ['/home/ada/.config/Claude/claude_desktop_config.json']);
    check('claude-desktop', WINDOWS, [
      'D:\\Local\\Packages\\Claude_pzs8sxrjxfjjc\\LocalCache\\Roaming\\Claude\\claude_desktop_config.json',
      'D:\\Roaming\\Claude\\claude_desktop_config.json',
    ]);
  });

  it('Claude Code: is in the home folder, or where CLAUDE_CONFIG_DIR points', () => {
    check('claude-code', MAC, ['/Users/ada/.claude.json']);
    check('claude-code', LINUX, ['/home/ada/.claude.json']);
    check('claude-code', WINDOWS, ['C:\\Users\\Ada\\.claude.json']);
    check('claude-code', { ...LINUX, env: { CLAUDE_CONFIG_DIR: '/srv/claude' } }, [
      '/srv/claude/.claude.json',
    ]);
  });

  it('Cursor: is in the home folder', () => {
    check('cursor', MAC, ['/Users/ada/.cursor/mcp.json']);
    check('cursor', LINUX, ['/home/ada/.cursor/mcp.json']);
    check('cursor', WINDOWS, ['C:\\Users\\Ada\\.cursor\\mcp.json']);
  });

  it('VS Code: is in the user settings, next to settings.json', () => {
    check('vscode', MAC, ['/Users/ada/Library/Application Support/Code/User/mcp.json']);
    check('vscode', LINUX, ['/home/ada/.config/Code/User/mcp.json']);
    check('vscode', WINDOWS, ['D:\\Roaming\\Code\\User\\mcp.json']);
    check('vscode-insiders', LINUX, ['/home/ada/.config/Code - Insiders/User/mcp.json']);
  });

  it('Windsurf: is in the folder of the new name, or of the old one', () => {
    check('windsurf', MAC, [
      '/Users/ada/.config/devin/mcp_config.json',
      '/Users/ada/.codeium/windsurf/mcp_config.json',
    ]);
    check('windsurf', LINUX, [
      '/home/ada/.config/devin/mcp_config.json',
      '/home/ada/.codeium/windsurf/mcp_config.json',
    ]);
    check('windsurf', WINDOWS, [
      'D:\\Roaming\\devin\\mcp_config.json',
      'C:\\Users\\Ada\\.codeium\\windsurf\\mcp_config.json',
    ]);
  });

  it('Codex and Gemini CLI: is in the home folder, or where their own variables point', () => {
    check('codex', MAC, ['/Users/ada/.codex/config.toml']);
    check('codex', WINDOWS, ['C:\\Users\\Ada\\.codex\\config.toml']);
    check('codex', { ...LINUX, env: { CODEX_HOME: '/srv/codex' } }, ['/srv/codex/config.toml']);
    check('gemini-cli', MAC, ['/Users/ada/.gemini/settings.json']);
    check('gemini-cli', WINDOWS, ['C:\\Users\\Ada\\.gemini\\settings.json']);
    check('gemini-cli', { ...LINUX, env: { GEMINI_CLI_HOME: '/srv/g' } }, ['/srv/g/.gemini/settings.json']);
  });

  it('opencode: is in .config of the home folder on every system, with or without comments', () => {
    check('opencode', MAC, [
      '/Users/ada/.config/opencode/opencode.json',
      '/Users/ada/.config/opencode/opencode.jsonc',
    ]);
    expect(listUserFiles(clientOf('opencode'), WINDOWS)[0]?.path).toBe(
      'C:\\Users\\Ada\\.config\\opencode\\opencode.json',
    );
  });

  it('Zed: is in .config of the home folder; on Windows, in the application settings', () => {
    check('zed', MAC, ['/Users/ada/.config/zed/settings.json']);
    check('zed', { ...LINUX, env: { XDG_CONFIG_HOME: '/xdg' } }, ['/xdg/zed/settings.json']);
    check('zed', WINDOWS, ['D:\\Roaming\\Zed\\settings.json']);
  });

  it('Cline: is in its own folder, or where its VS Code extension kept it', () => {
    const old = ['Code', 'User', 'globalStorage', 'saoudrizwan.claude-dev', 'settings'];
    check('cline', MAC, [
      '/Users/ada/.cline/data/settings/cline_mcp_settings.json',
      `/Users/ada/Library/Application Support/${old.join('/')}/cline_mcp_settings.json`,
    ]);
    check('cline', WINDOWS, [
      'C:\\Users\\Ada\\.cline\\data\\settings\\cline_mcp_settings.json',
      `D:\\Roaming\\${old.join('\\')}\\cline_mcp_settings.json`,
    ]);
  });

  it('follows XDG_CONFIG_HOME on Linux only, and treats an empty variable as unset', () => {
    const env = { XDG_CONFIG_HOME: '/xdg' };
    check('vscode', { ...LINUX, env }, ['/xdg/Code/User/mcp.json']);
    check('vscode', { ...MAC, env }, ['/Users/ada/Library/Application Support/Code/User/mcp.json']);
    check('vscode', { ...LINUX, env: { XDG_CONFIG_HOME: '' } }, ['/home/ada/.config/Code/User/mcp.json']);
  });

  it('is found on Windows without the usual variables', () => {
    const bare = { ...WINDOWS, env: {} };
    check('vscode', bare, ['C:\\Users\\Ada\\AppData\\Roaming\\Code\\User\\mcp.json']);
    expect(listUserFiles(clientOf('claude-desktop'), bare)[0]?.path).toContain(
      'C:\\Users\\Ada\\AppData\\Local\\Packages\\',
    );
  });
});

it('a client counts as installed if its folder exists', () => {
  const signs = CLIENTS.map(({ id }) => [
    id,
    listUserFiles(clientOf(id), LINUX).map(({ installedFolder }) => installedFolder),
  ]);
  expect(Object.fromEntries(signs)).toEqual({
    'claude-desktop': ['/home/ada/.config/Claude'],
    'claude-code': ['/home/ada/.claude'],
    cursor: ['/home/ada/.cursor'],
    vscode: ['/home/ada/.config/Code'],
    'vscode-insiders': ['/home/ada/.config/Code - Insiders'],
    windsurf: ['/home/ada/.config/devin', '/home/ada/.codeium'],
    codex: ['/home/ada/.codex'],
    'gemini-cli': ['/home/ada/.gemini'],
    opencode: ['/home/ada/.config/opencode', '/home/ada/.config/opencode'],
    zed: ['/home/ada/.config/zed'],
    cline: ['/home/ada/.cline', '/home/ada/.config/Code/User/globalStorage/saoudrizwan.claude-dev'],
  });
});

it('finds the config file of a project', () => {
  const files = CLIENTS.map((client) => findProjectFile(client, '/p', 'linux')?.path);
  expect(files).toEqual([
    undefined,
    '/p/.mcp.json',
    '/p/.cursor/mcp.json',
    '/p/.vscode/mcp.json',
    '/p/.vscode/mcp.json',
    '/p/.devin/mcp_config.json',
    '/p/.codex/config.toml',
    '/p/.gemini/settings.json',
    '/p/opencode.json',
    '/p/.zed/settings.json',
    undefined,
  ]);
  expect(findProjectFile(clientOf('cursor'), 'C:\\p', 'win32')?.path).toBe('C:\\p\\.cursor\\mcp.json');
});

it('an address is written in the form that the client reads from that file', () => {
  const written = CLIENTS.map((client) => [
    client.id,
    listUserFiles(client, LINUX).map(({ shape }) => shape.http?.('U')),
  ]);
  expect(Object.fromEntries(written)).toEqual({
    'claude-desktop': [undefined],
    'claude-code': [{ type: 'http', url: 'U' }],
    cursor: [{ url: 'U' }],
    vscode: [{ type: 'http', url: 'U' }],
    'vscode-insiders': [{ type: 'http', url: 'U' }],
    windsurf: [{ url: 'U' }, { serverUrl: 'U' }],
    codex: [{ url: 'U' }],
    'gemini-cli': [{ httpUrl: 'U' }],
    opencode: [
      { type: 'remote', url: 'U' },
      { type: 'remote', url: 'U' },
    ],
    zed: [{ source: 'custom', url: 'U' }],
    cline: [
      { type: 'streamableHttp', url: 'U' },
      { type: 'streamableHttp', url: 'U' },
    ],
  });
});
