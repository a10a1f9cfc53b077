import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { discoverOAuthServerInfo } from '@modelcontextprotocol/client';
import { at, parseJson, type Json } from '../support/json.ts';

/**
 * The client that the conformance suite starts for its scenarios `auth/*`: signs in at the server of the last argument
 * through Assay, like a person on a headless machine, then lists its tools and calls the first one. Standalone, without
 * Vitest:
 *
 *     conformance client --command "node test/conformance/auth-client.ts" --scenario auth/NAME
 */
const MAIN = new URL('../../packages/gateway/dist/main.js', import.meta.url).pathname;
/** The address of the client metadata document that the suite expects of clients which have one. */
const DOCUMENT = 'https://conformance-test.local/client-metadata.json';
const SCENARIO = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
/** The number of sign-in attempts before giving up. */
const MAX_SIGN_INS = 3;

/** Server and issuer of the suite are at two ports of this machine. */
const SETTINGS = { 'http.allowLoopback': true };

const url = process.argv.at(-1) ?? '';
const home = mkdtempSync(join(tmpdir(), 'assay-conformance-'));
process.exitCode = await run().finally(() => rmSync(home, { recursive: true, force: true }));

async function run(): Promise<number> {
  const config = join(home, 'mcp.json');
  writeFileSync(
    config,
    JSON.stringify({ mcpServers: { remote: { url, auth: await authOf(contextOf()) } }, settings: SETTINGS }),
  );
  const where = ['--config', config, '--home', home];
  for (let signIns = 0; ; signIns += 1) {
    const done = await useTools(where);
    if (done.code === 0 || signIns === MAX_SIGN_INS || !done.said.includes('assay auth')) return done.code;
    const signedIn = await signIn(where);
    if (signedIn !== 0) return signedIn;
  }
}

function contextOf(): Json {
  return parseJson(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}');
}

async function authOf(context: Json): Promise<Json> {
  const [id, secret] = [at(context, 'client_id'), at(context, 'client_secret')];
  const key = at(context, 'private_key_pem');
  if (typeof id !== 'string') return { clientId: DOCUMENT };
  if (typeof key === 'string') {
    const privateKeyFile = join(home, 'client.key');
    writeFileSync(privateKeyFile, key);
    return { clientId: id, privateKeyFile, issuer: await findIssuer(), grant: 'client_credentials' };
  }
  if (typeof secret !== 'string') return { clientId: id };
  const isForClient = SCENARIO.startsWith('auth/client-credentials-');
  return {
    ...{ clientId: id, clientSecret: secret, issuer: await findIssuer() },
    ...(isForClient && { grant: 'client_credentials' }),
  };
}

/** The suite does not tell its issuer, which whoever has a credential of it knows. */
async function findIssuer(): Promise<string> {
  return (await discoverOAuthServerInfo(url)).authorizationServerUrl;
}

interface Done {
  readonly code: number;
  readonly stdout: string;
  /** On both of its streams. */
  readonly said: string;
}

async function useTools(where: readonly string[]): Promise<Done> {
  const listed = await assay(['tools', '--json', ...where]);
  const name = listed.code === 0 ? at(parseJson(listed.stdout), 'tools', 0, 'name') : undefined;
  return typeof name === 'string' ? assay(['call', name, '{}', ...where]) : listed;
}

/** Follows the address; the servers of the suite consent to everything at once. */
async function signIn(where: readonly string[]): Promise<number> {
  let isFollowed = false;
  const done = await assay(['auth', 'remote', '--no-browser', ...where], (said) => {
    const address = /^ {2}(https?:\/\/\S+)$/m.exec(said)?.[1];
    if (address === undefined || isFollowed) return;
    isFollowed = true;
    get(address, (response) => {
      response.resume();
      get(new URL(response.headers.location ?? '', address), (last) => last.resume());
    });
  });
  return done.code;
}

function assay(args: readonly string[], onSaid: (stderr: string) => void = () => undefined): Promise<Done> {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    process.stderr.write(text);
    onSaid(stderr);
  });
  return new Promise((resolve) => {
    child.on('close', (code) => resolve({ code: code ?? 1, stdout, said: stdout + stderr }));
  });
}
