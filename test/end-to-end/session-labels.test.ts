// Real clients read a web page and a private file, and then try to send data out.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, type AdminClient, verdictOf } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { until } from '../support/endings.ts';
import { filedServer, toolNamed } from '../support/filed.ts';
import { startGateway } from '../support/gateway.ts';
import { at } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { installed, tempDir, writeConfig } from '../support/paths.ts';
import { bearer, keepToken } from '../support/tokens.ts';
import { meet } from '../support/toolsets.ts';

const home = tempDir();
const notes = tempDir();
const note = join(notes, 'note.txt');
writeFileSync(note, 'a private note');
const web = filedServer(
  [
    toolNamed('fetch', { annotations: { readOnlyHint: true, openWorldHint: true } }),
    toolNamed('post', {
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
    }),
  ],
  { quiet: true },
);
const config = writeConfig(
  {
    web: { ...web.entry, trust: true },
    files: { ...installed('filesystem', [notes]), trust: true },
  },
  { settings: { approvals: 'gateway', 'policy.confirm': 'never', 'limits.approvalWaitMs': 0 } },
);

let assay: Gateway;
let admin: AdminClient;
const tokens: Record<string, string> = {};

async function start(): Promise<void> {
  assay = await startGateway({ home, config, env: { ASSAY_MCP_ACCESS: 'token' } });
  admin = adminClient(assay, tokens['boss'] ?? '');
  await until('the servers are ready', async () =>
    at(await assay.health(), 'status') === 'starting' ? undefined : true,
  );
}

beforeAll(async () => {
  tokens['boss'] = await keepToken(home, 'boss', { scopes: ['admin'] });
  for (const name of ['agent', 'other', 'modern']) tokens[name] = await keepToken(home, name);
  await start();
});

/** Calls a tool in a new session. */
async function call(subject: string, name: string): Promise<string> {
  const session = await openSession(assay.url, { headers: bearer(tokens[subject] ?? '') });
  return session.call(name, name === 'files_read_text_file' ? { path: note } : {});
}

const HELD =
  /^The call of "web_post" needs approval, and it had no effect\. This call could carry data out of a session that has read untrusted content and private data\./;

async function labels(): Promise<readonly unknown[]> {
  const shown = at((await admin.get('/labels')).json(), 'labels') as readonly Record<string, unknown>[];
  return shown.map(({ subject, label, source }) => [subject, label, source].join(' '));
}

describe('a caller that has received untrusted content and private data', () => {
  it('cannot send data out without approval in any session, while other callers can', async () => {
    expect(await call('agent', 'web_fetch')).toBe('fetch');
    expect(await call('agent', 'web_post')).toBe('post');
    expect(await call('agent', 'files_read_text_file')).toBe('a private note');
    expect(await call('agent', 'web_post')).toMatch(HELD);
    expect(await call('agent', 'web_fetch')).toBe('fetch');
    expect(await call('other', 'web_post')).toBe('post');
    expect(await labels()).toEqual([
      'agent saw-untrusted web.fetch',
      'agent saw-private files.read_text_file',
    ]);
  });

  it('keeps its labels across a restart of Assay', async () => {
    await assay.stop();
    await start();
    expect(await call('agent', 'web_post')).toMatch(HELD);
  });

  it('is refused if policy.outbound says so, and the decision is explained', async () => {
    const set = (value: unknown): Promise<unknown> =>
      admin.ask('PATCH', '/preferences', { body: { 'policy.outbound': value } });
    await set('refuse');
    expect(await call('agent', 'web_post')).toMatch(/^The call of "web_post" was refused/);
    const explained = await admin.get('/tools/web_post/decision?token=agent');
    expect(explained.json()).toMatchObject({
      decision: 'refuse',
      reasons: [{ code: 'session_labels' }],
      labels: ['saw-untrusted', 'saw-private'],
    });
    await set('allow');
    expect(await call('agent', 'web_post')).toBe('post');
    await set(null);
    expect(await call('agent', 'web_post')).toMatch(HELD);
  });

  it('can send data again once an operator has cleared the labels', async () => {
    const run = (...args: readonly string[]): ReturnType<typeof runAssay> =>
      runAssay(['policy', 'labels', ...args, '--home', home, '--config', config]);
    expect((await run()).stdout).toMatch(/^agent +saw-untrusted +web\.fetch +20/m);
    expect((await run('--clear', 'agent')).code).toBe(0);
    expect(await call('agent', 'web_post')).toBe('post');
    expect(await call('agent', 'web_fetch')).toBe('fetch');
    expect(verdictOf(await admin.delete('/labels/agent'))).toBe('204');
    expect(verdictOf(await admin.delete('/labels/agent'))).toBe('404 LABELS_UNKNOWN');
    expect(await labels()).toEqual([]);
  });

  it('needs approval with a modern client too, and the model gets the reason', async () => {
    const headers = bearer(tokens['modern'] ?? '');
    const model = await meet({ url: assay.url, headers }, 'modern');
    await model.call('files_read_text_file', { path: note });
    await model.call('web_fetch', {});
    expect(await model.call('web_post', {})).toMatchObject({
      isError: true,
      text: expect.stringMatching(HELD) as string,
    });
    await model.client.close();
  });
});
