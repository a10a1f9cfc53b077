import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  connectClient,
  type ConnectEnvironment,
} from '../../../src/adapters/config/client-configs/connect-client.ts';
import { importServers } from '../../../src/adapters/config/client-configs/import-servers.ts';
import { undoConnect } from '../../../src/adapters/config/client-configs/undo-connect.ts';
import { tempDir } from '../../../../../test/support/paths.ts';

interface Case {
  readonly client: string;
  readonly file: readonly string[];
  /** As in the client's documentation. The part between « and » is replaced; COMMAND is the client's command line. */
  readonly text: string;
  /** The entry for an address, between the same text. */
  readonly address: string;
  /** The result of importing the file. */
  readonly imported: Readonly<Record<string, unknown>>;
}

const CASES: readonly Case[] = [
  {
    client: 'codex',
    file: ['.codex', 'config.toml'],
    text: `# mine
model = "gpt-5"

[mcp_servers.docs]   # a table
command = 'npx'
args = [
  "-y", "docs", # last
]
env = { "A" = "1" }
env_vars = ["TOKEN"]
enabled = false
disabled_tools = ["drop"]

[mcp_servers.remote]
url = "https://a.example/mcp"
bearer_token_env_var = "TOKEN"

[projects."/p"]
trust_level = "trusted"
«
[mcp_servers.assay]
command = "/bin/assay"
args = ["stdio", "--attach"]
»`,
    address: `
[mcp_servers.assay]
url = "http://127.0.0.1:4444/mcp"
`,
    imported: {
      docs: {
        command: 'npx',
        args: ['-y', 'docs'],
        env: { A: '1', TOKEN: '${TOKEN}' },
        disabled: true,
        tools: { deny: ['drop'] },
      },
      remote: { url: 'https://a.example/mcp', headers: { Authorization: 'Bearer ${TOKEN}' } },
    },
  },
  {
    client: 'gemini-cli',
    file: ['.gemini', 'settings.json'],
    text: `{
  "theme": "Dracula",
  "mcp": { "excluded": ["off"] },
  "mcpServers": {
    "remote": { "httpUrl": "https://a.example/mcp", "headers": { "K": "$TOKEN" }, "timeout": 5000, "trust": true },
    "off": { "command": "off", "includeTools": ["one"] }«,
    "assay": {
      "command": "/bin/assay",
      "args": [
        "stdio",
        "--attach"
      ]
    }»
  }
}
`,
    address: `,
    "assay": {
      "httpUrl": "http://127.0.0.1:4444/mcp"
    }`,
    imported: {
      remote: { url: 'https://a.example/mcp', headers: { K: '${TOKEN}' }, timeoutMs: 5000 },
      off: { command: 'off', tools: { allow: ['one'] }, disabled: true },
    },
  },
  {
    client: 'opencode',
    file: ['.config', 'opencode', 'opencode.jsonc'],
    text: `{
  // servers
  "mcp": {
    "docs": { "type": "local", "command": ["npx", "-y", "docs"], "environment": { "A": "{env:TOKEN}" } },
    "remote": { "type": "remote", "url": "https://a.example/mcp", "enabled": false }«,
    "assay": {
      "type": "local",
      "command": [
        "/bin/assay",
        "stdio",
        "--attach"
      ]
    }»
  }
}
`,
    address: `,
    "assay": {
      "type": "remote",
      "url": "http://127.0.0.1:4444/mcp"
    }`,
    imported: {
      docs: { command: 'npx', args: ['-y', 'docs'], env: { A: '${TOKEN}' } },
      remote: { url: 'https://a.example/mcp', disabled: true },
    },
  },
  {
    client: 'opencode',
    file: ['.config', 'opencode', 'opencode.json'],
    text: `{ "mcp": { "servers": { "docs": { "type": "local", "command": ["docs"], "disabled": true }«, "assay": {"type":"local","command":["/bin/assay","stdio","--attach"]}» } } }`,
    address: `, "assay": {"type":"remote","url":"http://127.0.0.1:4444/mcp"}`,
    imported: { docs: { command: 'docs', args: [], disabled: true } },
  },
  {
    client: 'zed',
    file: ['.config', 'zed', 'settings.json'],
    text: `// Zed settings
{
  "context_servers": {
    "docs": { "source": "custom", "enabled": false, "command": "docs", "args": ["a"] },
    "old": { "command": { "path": "old", "args": [], "env": null } },
    "packaged": { "source": "extension", "settings": {} }«,
    "assay": {
      "source": "custom",
      "command": "/bin/assay",
      "args": [
        "stdio",
        "--attach"
      ]
    }»
  },
}
`,
    address: `,
    "assay": {
      "source": "custom",
      "url": "http://127.0.0.1:4444/mcp"
    }`,
    imported: {
      docs: { disabled: true, command: 'docs', args: ['a'] },
      old: { command: 'old', args: [] },
    },
  },
  {
    client: 'cline',
    file: ['.cline', 'data', 'settings', 'cline_mcp_settings.json'],
    text: `{
  "mcpServers": {
    "docs": { "command": "docs", "disabled": true, "autoApprove": ["a"], "timeout": 60 },
    "remote": { "type": "streamableHttp", "url": "https://a.example/mcp" }«,
    "assay": {
      "command": "/bin/assay",
      "args": [
        "stdio",
        "--attach"
      ]
    }»
  }
}`,
    address: `,
    "assay": {
      "type": "streamableHttp",
      "url": "http://127.0.0.1:4444/mcp"
    }`,
    imported: {
      docs: { command: 'docs', disabled: true, timeoutMs: 60_000 },
      remote: { type: 'streamableHttp', url: 'https://a.example/mcp' },
    },
  },
];

let home: string;
let around: ConnectEnvironment & { readonly configPath: string };
beforeEach(() => {
  home = tempDir();
  around = {
    env: { TOKEN: 'set' },
    home,
    platform: 'linux',
    cwd: home,
    assayHome: join(home, '.assay'),
    ownCommand: ['/bin/assay'],
    options: [],
    tempFolder: '/nowhere',
    nowMs: 0,
    configPath: join(home, '.assay', 'mcp.json'),
  };
});

describe.each(CASES)('the file of $client, $file', ({ client, file, text, address, imported }) => {
  const before = text.replace(/«[^»]*»/, '');
  const request = { client, name: 'assay', project: undefined, view: {}, force: false, dryRun: false };

  function written(): string {
    const path = join(home, ...file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, before);
    chmodSync(path, 0o640);
    return path;
  }

  it.each([
    ['a command', undefined, text.replace(/[«»]/g, '')],
    ['an address', 'http://127.0.0.1:4444/mcp', text.replace(/«[^»]*»/, () => address)],
  ])(
    'gets %s as an additional entry, keeps all other bytes, and is restored by undo',
    async (_what, url, expected) => {
      const path = written();
      expect(await connectClient({ ...request, url }, around)).toMatchObject({
        value: { change: 'connected', path },
      });
      expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual([expected, 0o640]);
      expect(await connectClient({ ...request, url }, around)).toMatchObject({ value: { change: 'same' } });
      expect(await undoConnect(request, around)).toMatchObject({ value: { change: 'restored' } });
      expect(readFileSync(path, 'utf8')).toBe(before);
    },
  );

  it('loses only the entry if it was edited since', async () => {
    const path = written();
    await connectClient({ ...request, url: undefined }, around);
    const isToml = path.endsWith('.toml');
    writeFileSync(path, (isToml ? '# edited\n' : ' ') + readFileSync(path, 'utf8'));
    expect(await undoConnect(request, around)).toMatchObject({ value: { change: 'taken_out' } });
    expect(readFileSync(path, 'utf8')).toBe((isToml ? '# edited\n' : ' ') + before);
  });

  it("is imported in Assay's format, without Assay's own entry", async () => {
    written();
    await connectClient({ ...request, url: undefined }, around);
    const done = await importServers(
      { from: client, project: undefined, overwrite: false, dryRun: false },
      around,
    );
    expect(done.ok).toBe(true);
    expect(JSON.parse(readFileSync(around.configPath, 'utf8'))).toEqual({ mcpServers: imported });
  });
});

it('a Codex server that cannot run is skipped, with its position in the file', async () => {
  const path = join(home, 'some.toml');
  writeFileSync(path, '[mcp_servers.a]\ncommand = "a"\n\n[mcp_servers.b]\nurl = "ftp://b.example"\n');
  const done = await importServers(
    { from: path, project: undefined, overwrite: false, dryRun: true },
    around,
  );
  expect(done).toMatchObject({
    value: {
      servers: [
        { name: 'a', outcome: 'copied', line: 1, column: 1 },
        {
          name: 'b',
          outcome: 'skipped',
          line: 5,
          reason: expect.stringContaining('http or https') as string,
        },
      ],
    },
  });
});
