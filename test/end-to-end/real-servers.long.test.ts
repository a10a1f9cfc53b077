import { spawn } from 'node:child_process';
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { cleanEnv, freePort, serverIn, watch, type Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient, OFFICIAL, textIn, type Endpoint } from '../support/clients.ts';
import { endLater, until } from '../support/endings.ts';
import { send } from '../support/http.ts';
import { at } from '../support/json.ts';
import { installed, MAIN, tempDir, writeConfig } from '../support/paths.ts';

const folder = realpathSync(tempDir());
mkdirSync(`${folder}/scratch`);
writeFileSync(`${folder}/scratch/hello.txt`, 'Hello from a file.');

const SERVERS = {
  everything: installed('everything'),
  memory: { ...installed('memory'), env: { MEMORY_FILE_PATH: `${folder}/memory.jsonl` } },
  filesystem: installed('filesystem', [`${folder}/scratch`]),
};

describe('three real servers from npm', () => {
  let assay: Gateway;
  const config = writeConfig(SERVERS);
  const home = tempDir();
  beforeAll(async () => {
    assay = await startGateway({ config });
    await assay.settled();
  });

  const endpoints: readonly (readonly [string, () => Endpoint])[] = [
    ['HTTP', () => ({ url: assay.url })],
    [
      'stdio',
      () => ({ command: [process.execPath, MAIN, 'stdio', '--all', '--config', config, '--home', home] }),
    ],
  ];
  describe.each(endpoints)('through %s', (_name, endpoint) => {
    it.each(OFFICIAL)('serve the official client $label', async ({ label, connect }) => {
      const client = await connect(endpoint());
      const tools = await client.tools();
      for (const name of ['everything_get-sum', 'memory_read_graph', 'filesystem_read_text_file']) {
        expect(tools).toContain(name);
      }
      expect(await client.call('everything_get-sum', { a: 2, b: 40 })).toContain('42');
      expect(await client.call('filesystem_read_text_file', { path: `${folder}/scratch/hello.txt` })).toBe(
        'Hello from a file.',
      );
      const entity = { name: `${label} ${Math.random()}`, entityType: 'client', observations: ['was here'] };
      await client.call('memory_create_entities', { entities: [entity] });
      expect(await client.call('memory_search_nodes', { query: entity.name })).toContain('was here');
      // A client drops its progress handler once it has the result, so progress that arrives with it is lost.
      await until('progress is heard', async () => {
        const progress: number[] = [];
        await client.call('everything_trigger-long-running-operation', { duration: 0.4, steps: 4 }, (one) =>
          progress.push(one),
        );
        expect(progress).toEqual([1, 2, 3, 4].slice(0, progress.length));
        return progress.length > 0 ? true : undefined;
      });
      await client.close();
    });
  });

  it.each(['legacy', 'modern'] as const)(
    'give the official client 2.x (%s) resources, templates, prompts and completions',
    async (mode) => {
      const client = await connectClient({ url: assay.url }, mode);
      expect(client.getInstructions()).toContain('Everything Server');
      const [first] = (await client.listResources()).resources;
      expect((await client.readResource({ uri: first?.uri ?? '' })).contents).toHaveLength(1);
      expect((await client.readResource({ uri: 'demo://resource/dynamic/text/1' })).contents).toHaveLength(1);
      expect((await client.listResourceTemplates()).resourceTemplates.length).toBeGreaterThanOrEqual(2);
      const prompt = await client.getPrompt({ name: 'everything_args-prompt', arguments: { city: 'Graz' } });
      expect(JSON.stringify(prompt.messages)).toContain('Graz');
      const { completion } = await client.complete({
        ref: { type: 'ref/prompt', name: 'everything_completable-prompt' },
        argument: { name: 'department', value: 'E' },
      });
      expect(completion.values).toContain('Engineering');
    },
  );

  it('keep the annotations that they declare', async () => {
    const client = await connectClient({ url: assay.url }, 'legacy');
    const tool = (await client.listTools()).tools.find((one) => one.name === 'everything_get-sum');
    expect(tool?.annotations).toEqual({
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    });
  });
});

describe.each([
  ['streamableHttp', 'http', '/mcp'],
  ['sse', 'sse', '/sse'],
] as const)('server-everything over %s', (mode, type, path) => {
  it('is served to the official client', async () => {
    const port = await freePort();
    const entry = installed('everything', [mode]) as { command: string; args: readonly string[] };
    const child = spawn(entry.command, entry.args, { env: cleanEnv({ PORT: String(port) }), stdio: 'pipe' });
    const watched = watch(child);
    endLater(async () => {
      await watched.stop();
    });
    await until('the server listens', async () => {
      const answer = await send(`http://127.0.0.1:${port}/nothing`, { method: 'GET' }).catch(() => undefined);
      return answer === undefined ? undefined : true;
    });
    const assay = await startGateway({ servers: { web: { type, url: `http://127.0.0.1:${port}${path}` } } });
    expect(at(serverIn(await assay.settled(), 'web'), 'state')).toBe('up');
    for (const era of ['legacy', 'modern'] as const) {
      const client = await connectClient({ url: assay.url }, era);
      expect(textIn(await client.callTool({ name: 'web_get-sum', arguments: { a: 1, b: 1 } }))).toContain(
        '2',
      );
      const progress: number[] = [];
      await client.callTool(
        { name: 'web_trigger-long-running-operation', arguments: { duration: 0.3, steps: 3 } },
        { onprogress: (one) => progress.push(one.progress) },
      );
      expect(progress.length).toBeGreaterThanOrEqual(2);
    }
  });
});
