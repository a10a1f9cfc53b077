import { posix, win32 } from 'node:path';
import { parseTree } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { CLIENTS } from '../../../src/adapters/config/client-configs/clients.ts';
import { readInputs } from '../../../src/adapters/config/client-configs/inputs.ts';
import { isAssay, buildOwnEntry } from '../../../src/adapters/config/client-configs/own-entry.ts';
import {
  type EntryHome,
  translateEntry,
  toJsonValue,
} from '../../../src/adapters/config/client-configs/translate-entry.ts';

const OWN = ['/usr/bin/node', '/opt/tools/main.js'];

describe("another client's entry, converted for Assay,", () => {
  const inputs = readInputs(
    parseTree(`{"inputs": [
      {"id": "api-key", "type": "promptString", "description": "The key", "password": true},
      {"id": "api.key", "type": "promptString"},
      {"id": "region", "type": "pickString", "default": "eu"},
      {"id": "odd", "default": "}"}]}`)!,
  );
  const nowhere: EntryHome = { paths: posix, home: '/home/ada', base: undefined, project: undefined, inputs };
  const project: EntryHome = { ...nowhere, base: '/p', project: '/p' };

  function translated(entry: unknown, home = nowhere, isOff = false) {
    const { node, leftOut, fault } = translateEntry(parseTree(JSON.stringify(entry))!, home, isOff);
    return { value: toJsonValue(node), leftOut, fault: fault?.reason };
  }
  function check(entry: unknown, value: unknown, home = nowhere): void {
    expect(translated(entry, home)).toEqual({ value, leftOut: [], fault: undefined });
  }

  it('is unchanged where both use the same format', () => {
    const entry = {
      type: 'stdio',
      command: 'npx',
      args: ['-y', 'x', '${A}', '${B:-c}', '$PLAIN'],
      env: { N: 1, GONE: null, T: '${T}' },
      cwd: 'x',
      disabled: false,
    };
    check(entry, entry);
    const remote = { type: 'sse', url: 'https://a.example/x', headers: { Authorization: 'Bearer ${T}' } };
    check(remote, remote);
  });

  it("uses Assay's syntax for variables", () => {
    check(
      { command: 'c', args: ['${env:TOKEN}', 'a${env:B}c'] },
      { command: 'c', args: ['${TOKEN}', 'a${B}c'] },
    );
  });

  it('has a distinct variable for each input that VS Code asks for', () => {
    check(
      {
        command: 'c',
        env: {
          A: '${input:api-key}',
          B: '${input:api.key}',
          C: '${input:region}',
          D: 'x ${input:odd}',
          E: '${input:not-described}',
        },
      },
      {
        command: 'c',
        env: { A: '${API_KEY}', B: '${API_KEY_2}', C: '${REGION:-eu}', D: 'x ${ODD}', E: '${NOT_DESCRIBED}' },
      },
    );
    expect(inputs.get('api-key')?.about).toBe('The key');
  });

  it("has paths in place of the editor's folder variables", () => {
    check(
      {
        command: '${userHome}/bin/c',
        args: ['${workspaceFolder}${/}a', '${workspaceFolderBasename}', '${pathSeparator}'],
        cwd: '${workspaceFolder}',
      },
      { command: '/home/ada/bin/c', args: ['/p/a', 'p', '/'], cwd: '/p' },
      project,
    );
  });

  it('has relative paths of a project resolved against the project folder, where the server also starts', () => {
    check(
      { command: './bin/c', args: ['./a'], cwd: 'sub' },
      { command: '/p/bin/c', args: ['./a'], cwd: '/p/sub' },
      project,
    );
    check({ command: 'node', args: ['./a.js'] }, { command: 'node', args: ['./a.js'], cwd: '/p' }, project);
    check({ command: '~/bin/c', cwd: '${HOME}/x' }, { command: '~/bin/c', cwd: '${HOME}/x' }, project);
    check({ url: 'https://a.example' }, { url: 'https://a.example' }, project);
  });

  it('works on Windows too', () => {
    const home = { ...project, paths: win32, base: 'C:\\p', project: 'C:\\p' };
    check(
      { command: '.\\c.exe', args: ['${/}'] },
      { command: 'C:\\p\\c.exe', args: ['\\'], cwd: 'C:\\p' },
      home,
    );
    check({ command: 'D:\\c.exe', cwd: 'x' }, { command: 'D:\\c.exe', cwd: 'C:\\p\\x' }, home);
  });

  it("uses Assay's keys for the URL and its type", () => {
    check({ serverUrl: 'https://a.example' }, { url: 'https://a.example' });
    check({ url: 'https://a.example', transport: 'sse' }, { url: 'https://a.example', type: 'sse' });
    expect(translated({ url: 'https://a.example', serverUrl: 'https://b.example' })).toEqual({
      value: { url: 'https://a.example' },
      leftOut: ['serverUrl'],
      fault: undefined,
    });
  });

  it('has one filter in place of lists of tools', () => {
    check(
      { command: 'c', disabledTools: ['a', 'b'], includeTools: ['c'] },
      { command: 'c', tools: { deny: ['a', 'b'], allow: ['c'] } },
    );
    check(
      { url: 'https://a.example', tools: { deny: ['x_*'] } },
      { url: 'https://a.example', tools: { deny: ['x_*'] } },
    );
  });

  it('Codex: has references for variable names, and milliseconds for seconds', () => {
    check(
      {
        command: 'c',
        env: { A: '1' },
        env_vars: ['TOKEN'],
        enabled: false,
        disabled_tools: ['x'],
        tool_timeout_sec: 2.5,
      },
      {
        command: 'c',
        env: { A: '1', TOKEN: '${TOKEN}' },
        disabled: true,
        tools: { deny: ['x'] },
        timeoutMs: 2500,
      },
    );
    check(
      {
        url: 'https://a.example',
        bearer_token_env_var: 'TOKEN',
        http_headers: { 'X-A': 'a' },
        env_http_headers: { 'X-B': 'B_KEY' },
      },
      {
        url: 'https://a.example',
        headers: { Authorization: 'Bearer ${TOKEN}', 'X-A': 'a', 'X-B': '${B_KEY}' },
      },
    );
  });

  it('Gemini CLI: handles httpUrl, variables after a dollar sign, and a different meaning of trust', () => {
    const gemini: EntryHome = { ...nowhere, references: 'dollar', timeout: 'ms' };
    expect(
      translated(
        {
          httpUrl: 'https://a.example',
          headers: { Authorization: 'Bearer $KEY' },
          timeout: 5000,
          trust: true,
        },
        gemini,
      ),
    ).toEqual({
      value: { url: 'https://a.example', headers: { Authorization: 'Bearer ${KEY}' }, timeoutMs: 5000 },
      leftOut: ['trust'],
      fault: undefined,
    });
    check(
      { command: 'c', env: { A: '${B}', C: 'a$' } },
      { command: 'c', env: { A: '${B}', C: 'a$' } },
      gemini,
    );
  });

  it('opencode: splits the command from its arguments, and converts references in braces', () => {
    const opencode: EntryHome = { ...nowhere, references: 'braces' };
    check(
      {
        type: 'local',
        command: ['npx', '-y', 'x', '{env:A}'],
        environment: { B: '{env:B}' },
        enabled: true,
      },
      { command: 'npx', args: ['-y', 'x', '${A}'], env: { B: '${B}' } },
      opencode,
    );
    check(
      { type: 'remote', url: 'https://a.example', enabled: false },
      { url: 'https://a.example', disabled: true },
      opencode,
    );
    expect(translated({ url: 'https://{file:~/host}' }, opencode).fault).toBe(
      'only that client can replace {file:…}',
    );
  });

  it('Zed: handles the current and the former form of a command, and skips what an extension starts', () => {
    check({ source: 'custom', command: 'c', args: ['a'] }, { command: 'c', args: ['a'] });
    check(
      { command: { path: 'c', args: ['a'], env: { A: '1' } } },
      { command: 'c', args: ['a'], env: { A: '1' } },
    );
    expect(translated({ source: 'extension', settings: {} }).fault).toBe(
      'an extension of that client starts it',
    );
  });

  it('Cline: converts a time limit in seconds', () => {
    check({ command: 'c', timeout: 60 }, { command: 'c', timeoutMs: 60_000 }, { ...nowhere, timeout: 's' });
    expect(translated({ command: 'c', timeout: 60 }).leftOut).toEqual(['timeout']);
  });

  it('lists the keys that have no equivalent', () => {
    const entry = {
      command: 'c',
      alwaysAllow: ['a'],
      autoApprove: [],
      oauth: {},
      tools: ['*'],
      sandbox: {},
    };
    expect(translated(entry)).toEqual({
      value: { command: 'c' },
      leftOut: ['alwaysAllow', 'autoApprove', 'oauth', 'tools', 'sandbox'],
      fault: undefined,
    });
  });

  it('stays disabled if it was', () => {
    expect(translated({ command: 'c' }, nowhere, true).value).toEqual({ command: 'c', disabled: true });
    expect(translated({ command: 'c', disabled: true }).value).toEqual({ command: 'c', disabled: true });
  });

  it.each([
    ['${config:a.b}', 'only that client can replace ${config:…}'],
    ['${command:x.y}', 'only that client can replace ${command:…}'],
    ['${file:/etc/key}', 'only that client can replace ${file:…}'],
    ['${cwd}', 'only that client can replace ${cwd}'],
    ['${a b}', 'only that client can replace a "${…}" in it'],
    ['${workspaceFolder}', '${workspaceFolder} means the folder of a project: say which with --project'],
  ])('%s cannot be converted, and the reason does not quote the value', (text, reason) => {
    expect(translated({ command: 'c', args: [text] }).fault).toBe(reason);
  });
});

describe('the entry written for a client', () => {
  function entryFor(
    id: string,
    more: { readonly url?: string; readonly own?: readonly string[]; readonly platform?: string } = {},
  ) {
    const client = CLIENTS.find((one) => one.id === id)!;
    return buildOwnEntry({
      shape: client.shape,
      platform: more.platform ?? 'linux',
      ownCommand: more.own ?? OWN,
      options: ['--home', '/h'],
      url: more.url,
    });
  }
  const stdio = {
    command: '/usr/bin/node',
    args: ['/opt/tools/main.js', 'stdio', '--attach', '--home', '/h'],
  };
  const url = 'http://127.0.0.1:4444/mcp';

  it('names the running Node and file, with a type if the client requires one', () => {
    for (const id of ['claude-desktop', 'cursor', 'windsurf']) expect(entryFor(id)).toEqual(stdio);
    for (const id of ['claude-code', 'vscode']) expect(entryFor(id)).toEqual({ type: 'stdio', ...stdio });
  });

  it("names a URL with the client's keys", () => {
    expect(entryFor('claude-code', { url })).toEqual({ type: 'http', url });
    expect(entryFor('vscode', { url })).toEqual({ type: 'http', url });
    expect(entryFor('cursor', { url })).toEqual({ url });
    expect(entryFor('windsurf', { url })).toEqual({ url });
    expect(entryFor('gemini-cli', { url })).toEqual({ httpUrl: url });
  });

  it("starts npx if the program is in npx's temporary cache", () => {
    const own = ['/usr/bin/node', '/home/ada/.npm/_npx/1a2b/node_modules/.bin/assay-mcp'];
    const args = ['-y', 'assay-mcp', 'stdio', '--attach', '--home', '/h'];
    expect(entryFor('cursor', { own })).toEqual({ command: 'npx', args });
    expect(entryFor('cursor', { own, platform: 'win32' })).toEqual({
      command: 'cmd',
      args: ['/c', 'npx', ...args],
    });
  });
});

describe('Assay itself', () => {
  it.each([
    { command: '/usr/bin/node', args: ['/opt/tools/main.js', 'stdio'] },
    { command: 'npx', args: ['-y', 'assay-mcp@0.1.0', 'stdio'] },
    { command: 'assay', args: ['stdio'] },
    { command: 'C:\\tools\\assay-mcp.cmd', args: ['stdio'] },
    { command: 'node', args: ['/other/assay-mcp/dist/main.js', 'stdio'] },
    { url: 'http://127.0.0.1:4444/mcp' },
    { serverUrl: 'http://localhost:4444/mcp/servers/git' },
    { command: 'npx', args: ['mcp-remote', 'http://127.0.0.1:4444/mcp'] },
  ])('is recognized under any name: %j', (entry) => {
    expect(isAssay(entry, OWN)).toBe(true);
  });

  it.each([
    { command: 'node', args: ['/opt/other/main.js'] },
    { command: 'npx', args: ['-y', 'assay-mcp-extras'] },
    { url: 'http://127.0.0.1:4444/other' },
    { url: 'https://mcp.example.com:4444/mcp' },
    { url: 'http://127.0.0.1:4445/mcp' },
    {},
  ])('is not %j', (entry) => {
    expect(isAssay(entry, OWN)).toBe(false);
  });
});
