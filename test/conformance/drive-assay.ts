import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { driveOf } from './client-scenarios.ts';
import { cleanEnv, MAIN } from './programs.ts';

const MODERN = '2026-07-28';

export interface ClientScenario {
  readonly name: string;
  readonly version: string;
  /** The suite's server. */
  readonly url: string;
  /** The suite's additional data. */
  readonly context: unknown;
}

/** Puts Assay in front of the suite's server and lets the official client run the scenario. */
export async function driveAssay({ name, version, url, context }: ClientScenario): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'assay-conformance-'));
  const config = join(home, 'mcp.json');
  writeFileSync(config, JSON.stringify({ mcpServers: { suite: { type: 'http', url, prefix: false } } }));
  const client = makeClient(version);
  try {
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [MAIN, 'stdio', '--all', '--config', config, '--home', home],
        env: cleanEnv(),
        stderr: 'inherit',
      }),
    );
    await driveOf(name)({ client, context });
  } finally {
    await client.close();
    rmSync(home, { recursive: true, force: true });
  }
}

function makeClient(version: string): Client {
  const client = new Client(
    { name: 'conformance', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} },
      versionNegotiation: { mode: version === MODERN ? { pin: MODERN } : 'legacy' },
    },
  );
  // Omitted fields are filled with the form's defaults by the client.
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: {} }));
  client.setRequestHandler('roots/list', () => ({ roots: [] }));
  return client;
}
