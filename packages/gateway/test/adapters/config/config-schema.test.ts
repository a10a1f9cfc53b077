import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { parse } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { configSchema } from '../../../src/adapters/config/config-schema.ts';
import { readConfigText } from '../../../src/adapters/config/load-config.ts';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { GATEWAY, ROOT } from '../../../../../test/support/paths.ts';

const SCHEMA = configSchema();

const validate = new Ajv({
  strictTypes: false,
  strictRequired: false,
  allowUnionTypes: true,
  keywords: ['allowComments', 'allowTrailingCommas'],
  allErrors: true,
}).compile(SCHEMA);

/** What the reader reports of a config. */
function reported(text: string): readonly string[] {
  const env = { API: 'https://api.example', API_TOKEN: 't', T: 't', ISSUES_TOKEN: 't' };
  const read = readConfigText(join(tmpdir(), 'mcp.json'), text, { env, cwd: tmpdir(), home: tmpdir() });
  if (!read.ok) return [JSON.stringify(read.error)];
  return [...read.value.problems, ...read.value.warnings].map(({ key, reason }) => `${key}: ${reason}`);
}

function checkAgreement(config: unknown, isValid: boolean): void {
  const isAllowed = validate(config);
  const faults = reported(JSON.stringify(config));
  expect([isAllowed, faults.length === 0], JSON.stringify([validate.errors, faults])).toEqual([
    isValid,
    isValid,
  ]);
}

const inServers = (entry: unknown): unknown => ({ mcpServers: { x: entry } });
const inTools = (entry: object): unknown => ({ tools: { x: { url: 'https://e.org/', ...entry } } });
const inModules = (entry: object): unknown => ({ functions: [{ module: './a.ts', ...entry }] });
const inRules = (rule: unknown): unknown => ({ policy: { rules: [rule] } });
const url = 'https://e.org';
const CLIENT = { clientId: 'a', issuer: 'https://id.example' };

it('the schema in the package is the one of this build', () => {
  const packaged: unknown = JSON.parse(readFileSync(join(GATEWAY, 'assay.schema.json'), 'utf8'));
  expect(packaged).toEqual(JSON.parse(JSON.stringify(SCHEMA)));
});

describe('the schema of the config file and its reader', () => {
  it.each([
    {},
    { $schema: 'assay.schema.json', inputs: [{}], servers: { 'a b': { command: 'x' } } },
    inServers({ command: 'x', args: ['a'], env: { A: 'a', B: 1, C: null }, cwd: '.', sandbox: 'off' }),
    inServers({ command: 'x', network: ['*'], roots: ['~'], sandboxAccepts: ['separate_state'] }),
    inServers({ type: 'stdio', command: 'x', trust: true, tags: ['a'], prefix: false, timeoutMs: 1 }),
    inServers({ url, headers: { A: 'a', B: 1 }, auth: { clientId: 'a', shared: false } }),
    inServers({ url, auth: { clientId: 'a', clientSecret: 'b', issuer: 'https://id.example' } }),
    inServers({ url, proxy: 'http://u:${P:-p}@p.example:3128', proxyResolves: true }),
    inServers({ openapi: './a.yaml', proxy: false }),
    inServers({ url, auth: { ...CLIENT, clientSecret: 'b', grant: 'client_credentials' } }),
    inServers({ url, auth: { ...CLIENT, privateKeyFile: 'k', grant: 'client_credentials', keyId: 'k' } }),
    inServers({ url, auth: { clientMetadataUrl: 'https://c.example/client.json' } }),
    inServers({ url, auth: { clientId: 'a', clientMetadataUrl: false } }),
    inServers({
      url,
      clientCertificate: { certFile: 'c', keyFile: 'k' },
      auth: { ...CLIENT, tokenAuthMethod: 'tls_client_auth', grant: 'client_credentials' },
    }),
    inServers({ url, auth: { ...CLIENT, privateKeyFile: 'k', algorithm: 'ES256', assertionAudience: 'a' } }),
    inServers({ url, headerCommand: ['op', 'read'] }),
    inServers({ url, ca: 'ca.pem', clientCertificate: { certFile: 'a', keyFile: 'b', passphrase: 'c' } }),
    inServers({ type: 'sse', httpUrl: url, isolation: 'shared', tools: ['a*'] }),
    inServers({ serverUrl: '${API}/mcp', tools: { allow: [], deny: ['b'] } }),
    inServers({ command: 'x', maxResultBytes: 10_000 }),
    inServers({ url, maxResultBytes: { 'a_*': 67_108_864, b: 10_000 } }),
    inServers({ openapi: './a.yaml', baseUrl: url, operations: { include: ['tag:a', 'GET /b'] } }),
    inServers({
      type: 'openapi',
      document: '{}',
      credentials: { a: 't', b: { username: 'u', password: 'p' } },
    }),
    inServers({ type: 'codebase', roots: ['~/src'], env: { A: 'a' } }),
    inServers({ disabled: true }),
    inTools({
      method: 'get',
      timeoutMs: 5,
      filter: 'a',
      bodyType: 'form',
      annotations: { readOnlyHint: true },
    }),
    inTools({
      auth: { type: 'bearer', token: '${API_TOKEN}' },
      queryMapping: { a: 'b' },
      headers: { A: 'b' },
    }),
    inTools({
      inputSchema: { type: 'object', properties: {} },
      outputSchema: { type: 'object' },
      outputValidation: 'strict',
    }),
    { functions: ['./a.mjs'] },
    inModules({ env: { A: 'a' }, reads: ['b'], writes: ['c'], memoryMb: null, timeoutMs: 5 }),
    inRules({ effect: 'ask', tool: ['*', 'a.b'], server: 'a', hints: { readOnlyHint: false }, because: 'c' }),
    { policy: {}, settings: { 'limits.sessions': 100, 'mcp.access': 'token' } },
    { featureFlags: { enableConfigToolsMenu: false } },
  ])('accept %j', (config) => {
    checkAgreement(config, true);
  });

  it.each([
    { mcpserver: {} },
    { mcpServers: [] },
    { mcpServers: { 'a/b': { command: 'x' } } },
    { mcpServers: { local: { command: 'x' } } },
    inServers({}),
    inServers(5),
    inServers({ command: 5 }),
    inServers({ command: 'x', args: '-y' }),
    inServers({ command: 'x', args: [5] }),
    inServers({ command: 'x', env: [] }),
    inServers({ command: 'x', env: { A: true } }),
    inServers({ command: 'x', url }),
    inServers({ command: 'x', headers: {} }),
    inServers({ command: 'x', comand: 'y' }),
    inServers({ command: 'x', sandbox: 'on' }),
    inServers({ command: 'x', sandboxAccepts: ['all'] }),
    inServers({ command: 'x', disabled: 'no' }),
    inServers({ command: 'x', timeoutMs: 0 }),
    inServers({ command: 'x', isolation: 'process' }),
    inServers({ command: 'x', tags: [''] }),
    inServers({ command: 'x', tools: {} }),
    inServers({ command: 'x', tools: { alow: ['a'] } }),
    inServers({ type: 'websocket', url }),
    inServers({ type: 'stdio', url }),
    inServers({ url: 'ftp://e.org' }),
    inServers({ url, auth: { clientSecret: 'a' } }),
    inServers({ url, proxy: true }),
    inServers({ url, proxy: 'p.example:3128' }),
    inServers({ url, proxyResolves: 'yes' }),
    inServers({ command: 'x', proxy: 'http://p.example' }),
    inServers({ url, auth: { token: 'a' } }),
    inServers({ url, auth: { ...CLIENT, grant: 'client_credentials' } }),
    inServers({ url, auth: { ...CLIENT, grant: 'device' } }),
    inServers({ url, auth: { ...CLIENT, clientSecret: 'b', privateKeyFile: 'k' } }),
    inServers({ url, auth: { clientId: 'a', privateKeyFile: 'k' } }),
    inServers({ url, auth: { clientMetadataUrl: true } }),
    inServers({ url, auth: { clientId: 'a', tokenAuthMethod: 'tls_client_auth' } }),
    inServers({ url, auth: { ...CLIENT, tokenAuthMethod: 'tls_client_auth', clientSecret: 'b' } }),
    inServers({ url, auth: { ...CLIENT, tokenAuthMethod: 'none' } }),
    inServers({ url, auth: { ...CLIENT, privateKeyFile: 'k', algorithm: 'HS256' } }),
    inServers({ url, auth: { ...CLIENT, keyId: 'k' } }),
    inServers({ url, clientCertificate: { certFile: 'a' } }),
    inServers({ url, clientCertificate: { certFile: 'a', keyFile: 'b', other: 'c' } }),
    inServers({ url, ca: ['a'] }),
    inServers({ url, headerCommand: 'op read' }),
    inServers({ url, headerCommand: [] }),
    inServers({ url, auth: { shared: 'no' } }),
    inServers({ openapi: 'a.yaml', document: '{}' }),
    inServers({ openapi: 'a.yaml', maxBytes: 0 }),
    inServers({ command: 'x', maxResultBytes: 9_999 }),
    inServers({ command: 'x', maxResultBytes: { a: '10000' } }),
    inServers({ openapi: 'a.yaml', outputValidation: 'on' }),
    inServers({ openapi: 'a.yaml', credentials: { a: { username: 'u' } } }),
    inServers({ roots: ['~/src'] }),
    inTools({ metod: 'GET' }),
    inTools({ method: 'TRACE' }),
    inTools({ bodyType: 'xml' }),
    inTools({ outputValidation: true }),
    inTools({ filter: '' }),
    inTools({ timeoutMs: '5' }),
    inTools({ auth: { type: 'bearer' } }),
    inTools({ auth: { type: 'bearer', token: 'a', name: 'b' } }),
    inTools({ auth: { type: 'digest' } }),
    inTools({ inputSchema: { type: 'string' } }),
    inTools({ annotations: { mood: true } }),
    inTools({ annotations: { readOnlyHint: true, destructiveHint: true } }),
    { tools: { x: {} } },
    { tools: { '-': { url } } },
    { functions: ['./a.py'] },
    { functions: {} },
    inModules({ read: ['b'] }),
    inModules({ memoryMb: 15 }),
    inModules({ reads: [''] }),
    { policy: { rule: [] } },
    inRules({}),
    inRules({ effect: 'deny' }),
    inRules({ effect: 'ask', server: [] }),
    inRules({ effect: 'ask', servers: 'x' }),
    inRules({ effect: 'ask', because: '' }),
    inRules({ effect: 'ask', hints: {} }),
    inRules({ effect: 'ask', hints: { readonly: true } }),
    { settings: { 'limits.sessions': '100' } },
    { settings: { 'limits.session': 100 } },
    { settings: { 'mcp.access': 'closed' } },
    { featureFlags: { 'limits.sessions': 100 } },
  ])('refuse %j', (config) => {
    checkAgreement(config, false);
  });
});

const EXAMPLES = [
  ...['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)]
    .filter((name) => name.endsWith('.md'))
    .flatMap((name) =>
      [...readFileSync(join(ROOT, name), 'utf8').matchAll(/^```jsonc?\n(.*?)^```/gms)].map(
        ([, text = '']) => [name, text] as const,
      ),
    ),
  ...readdirSync(join(ROOT, 'examples'))
    .filter((name) => name.endsWith('.json'))
    .map((name) => [`examples/${name}`, readFileSync(join(ROOT, 'examples', name), 'utf8')] as const),
].filter(([, text]) =>
  /^\s*\{\s*"(?:\$schema|mcpServers|servers|functions|policy|settings)":|^\{\s*"tools": \{/.test(text),
);

it('every example of a config file is valid', () => {
  expect(EXAMPLES.length).toBeGreaterThan(10);
  const invalid = EXAMPLES.filter(([, text]) => !validate(parse(text, [], { allowTrailingComma: true })));
  expect(invalid).toEqual([]);
});

it('every member of the config file has a description', () => {
  const missing: string[] = [];
  const visit = (value: unknown, path: string): void => {
    if (Array.isArray(value)) value.forEach((one, index) => visit(one, `${path}/${index}`));
    if (!isJsonObject(value)) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key === 'properties' && isJsonObject(inner) && !path.endsWith('/properties'))
        for (const [name, member] of Object.entries(inner))
          if (!isJsonObject(member) || typeof member['description'] !== 'string')
            missing.push(`${path}/properties/${name}`);
      visit(inner, `${path}/${key}`);
    }
  };
  // What an alternative adds to members that are described elsewhere needs no description.
  const { anyOf: _, ...server } = (SCHEMA['definitions'] as { server: JsonObject }).server;
  visit({ ...SCHEMA, definitions: { server } }, '');
  expect(missing.filter((path) => !path.includes('/not/'))).toEqual([]);
});

/** The rows of the table with this first header: the text of the second cell by each name in the first one. */
function rowsOf(page: string, header: string): Readonly<Record<string, string>> {
  const lines = readFileSync(join(ROOT, 'docs', page), 'utf8').split('\n');
  const start = lines.findIndex((line) => line.startsWith(`| ${header} |`)) + 2;
  const length = lines.slice(start).findIndex((line) => !line.startsWith('|'));
  const rows = lines.slice(start, start + length).flatMap((line) => {
    const [, names = '', cell = ''] = line.split('|');
    const text = cell
      .replaceAll(/ ?\(\[[^\]]*\]\([^)]*\)\)/g, '')
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll('`', '');
    return [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => [name, text.trim()] as const);
  });
  return Object.fromEntries(rows.filter(([, text]) => text !== 'as for any other server'));
}

interface Described {
  readonly properties: Readonly<Record<string, { readonly description: string }>>;
}

const { properties: top, definitions } = SCHEMA as unknown as {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly definitions: { readonly server: Described };
};
const { server } = definitions;
const tool = top['tools'] as { readonly additionalProperties: Described };
const functions = top['functions'] as { readonly items: { readonly anyOf: readonly [unknown, Described] } };
const policy = top['policy'] as { readonly properties: { readonly rules: { readonly items: Described } } };

it.each<readonly [string, unknown, Readonly<Record<string, string>>]>([
  ['the file', SCHEMA, rowsOf('CONFIG.md', 'key of the file')],
  ['a server', server, { ...rowsOf('CONFIG.md', 'key of an entry'), ...rowsOf('OPENAPI.md', 'key') }],
  ['auth', server.properties['auth'], rowsOf('CONFIG.md', 'key of `auth`')],
  ['a REST tool', tool.additionalProperties, rowsOf('SOURCES.md', 'member')],
  ['a module of functions', functions.items.anyOf[1], rowsOf('FUNCTIONS.md', 'member')],
  ['a rule', policy.properties.rules.items, rowsOf('POLICY.md', 'member')],
])('the documentation describes the members of %s as the schema does', (_, schema, rows) => {
  const { properties } = schema as Described;
  const { name: key, ...documented } = rows;
  const wanted = Object.entries(properties).map(([name, { description }]) => [name, description]);
  expect({ ...('name' in properties && { name: key }), ...documented }).toEqual(Object.fromEntries(wanted));
});
