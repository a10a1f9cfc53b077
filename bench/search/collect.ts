// Collects the definitions of the servers in `sources.json` into `definitions.json`, over which search is measured:
//   npm install --ignore-scripts --prefix /tmp/search-servers $(node bench/search/collect.ts)
//   node bench/search/collect.ts /tmp/search-servers
// Versions are pinned, so that the expected tools of `questions.json` stay the right ones.
import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

interface Source {
  readonly server: string;
  readonly package: string;
  readonly version: string;
  /** Each of these licenses permits to store the definitions here. */
  readonly license: 'MIT' | 'Apache-2.0' | 'ISC';
  /** Path in the package. */
  readonly script: string;
  readonly args?: readonly string[];
  /** Made-up credentials: a server that lists its tools checks none. */
  readonly env?: Readonly<Record<string, string>>;
}

type Definition = Awaited<ReturnType<Client['listTools']>>['tools'][number];

const sources = JSON.parse(
  readFileSync(new URL('sources.json', import.meta.url), 'utf8'),
) as readonly Source[];
const [folder] = process.argv.slice(2);
if (folder === undefined)
  process.stdout.write(`${sources.map((one) => `${one.package}@${one.version}`).join(' ')}\n`);
else await collect(folder);

async function collect(from: string): Promise<void> {
  const servers: string[] = [];
  let count = 0;
  for (const source of sources) {
    const tools = await listTools(source, from);
    count += tools.length;
    const { server, package: name, version, license } = source;
    const [head = ''] = JSON.stringify({ server, package: name, version, license, tools: [] }).split(/\]\}$/);
    servers.push(`${head}\n${tools.map((tool) => JSON.stringify(tool)).join(',\n')}\n]}`);
  }
  writeFileSync(new URL('definitions.json', import.meta.url), `[\n${servers.join(',\n')}\n]\n`);
  process.stderr.write(`${String(count)} tools of ${String(sources.length)} servers\n`);
}

async function listTools(source: Source, from: string): Promise<readonly Definition[]> {
  const { package: name, script, args = [], env = {} } = source;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(from, 'node_modules', name, script), ...args],
    env: { PATH: process.env['PATH'] ?? '', HOME: tmpdir(), ...env },
    cwd: tmpdir(),
    stderr: 'ignore',
  });
  const client = new Client({ name: 'search-bench', version: '1' });
  try {
    await client.connect(transport);
    return (await client.listTools()).tools;
  } finally {
    await client.close();
  }
}
