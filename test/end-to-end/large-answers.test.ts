import { beforeAll, describe, expect, it } from 'vitest';
import { ID_FIRST, inPieces, RESULT_FIRST, startMade, type Era } from '../fixtures/http-made.ts';
import { textResult, toolOf } from '../fixtures/peer.ts';
import { serverIn, type Gateway } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater } from '../support/endings.ts';
import { at, listAt, parseJson, type JsonObject } from '../support/json.ts';
import { messageOf, openSession } from '../support/legacy.ts';
import { modernSend } from '../support/modern.ts';
import { tempDir, writeConfig } from '../support/paths.ts';
import { openStdio } from '../support/stdio-gateway.ts';

const SIZE = 400_000;
const TOOLS = 420;
/** Quotes, escapes and other letters, so that a slip of the bytes shows. */
const TEXT = 'é"\\ {"id":7}, '.repeat(SIZE).slice(0, SIZE);
const ORDERS = { 'id first': ID_FIRST, 'result first': RESULT_FIRST } as const;

/** A server whose every answer comes in several pieces. */
async function startLarge(era: Era, order: keyof typeof ORDERS): Promise<string> {
  const shape = ORDERS[order];
  const few = inPieces(2);
  const many = inPieces(9);
  const tools = Array.from({ length: TOOLS }, (_, index) => ({
    ...toolOf(`t${index}`),
    description: 'd'.repeat(500),
  }));
  const server = await startMade({
    era,
    tools: [toolOf('big'), ...tools],
    shape,
    wire: (response, text) => {
      (text.length > 10_000 ? many : few)(response, text);
    },
    own: ({ incoming, write }) => {
      if (at(incoming.params, 'name') !== 'big') return false;
      const result = { ...(era === 'modern' ? { resultType: 'complete' } : {}), ...textResult(TEXT) };
      write(shape(JSON.stringify(incoming.id), JSON.stringify(result)));
      return true;
    },
  });
  endLater(() => server.close());
  return server.url;
}

describe('HTTP servers with large answers that arrive in pieces', () => {
  const kinds = (['legacy', 'modern'] as const).flatMap((era) =>
    (['id first', 'result first'] as const).map((order) => ({
      era,
      order,
      name: `${era}-${order.slice(0, 2)}`,
    })),
  );
  let servers: JsonObject;
  let assay: Gateway;
  beforeAll(async () => {
    servers = Object.fromEntries(
      await Promise.all(
        kinds.map(
          async ({ era, order, name }) =>
            [name, { type: 'http', url: await startLarge(era, order) }] as const,
        ),
      ),
    );
    assay = await startGateway({ servers });
    await assay.settled();
  });

  describe.each(kinds)('$era, $order', ({ era, name }) => {
    it('are up with all their tools', async () => {
      const entry = serverIn(await assay.health(), name);
      expect([at(entry, 'state'), at(entry, 'era')]).toEqual(['up', era]);
      const session = await openSession(`http://127.0.0.1:${assay.port}/mcp/servers/${name}`);
      let cursor: JsonObject = {};
      let count = 0;
      for (let page = 0; page < 10; page++) {
        const answer = await session.ask('tools/list', cursor);
        count += listAt(answer, 'result', 'tools').length;
        const next = at(answer, 'result', 'nextCursor');
        if (next === undefined) break;
        cursor = { cursor: next };
      }
      expect(count).toBe(TOOLS + 1);
    });

    it.each(['"mine \\u00e9"', '7', '0'])('answer a legacy client under its own id %s', async (id) => {
      const session = await openSession(assay.url);
      const answer = await session.post(
        `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}_big","arguments":{}}}`,
      );
      const message = messageOf(answer);
      expect(at(message, 'id')).toBe(JSON.parse(id));
      expect(at(message, 'result', 'content', 0, 'text') === TEXT).toBe(true);
      expect(at(message, 'result')).not.toHaveProperty('resultType');
    });

    it.each(['mine', 7])('answer a modern client under its own id %j', async (id) => {
      const params = { name: `${name}_big`, arguments: {} };
      const message = messageOf(await modernSend(assay.url, 'tools/call', { id, params }));
      expect(at(message, 'id')).toBe(id);
      expect(at(message, 'jsonrpc')).toBe('2.0');
      expect(at(message, 'result', 'resultType')).toBe('complete');
      expect(at(message, 'result', 'content', 0, 'text') === TEXT).toBe(true);
    });

    it('are printed whole by assay call', async () => {
      const config = writeConfig({ [name]: servers[name] ?? null });
      const run = (...args: readonly string[]) =>
        runAssay(['call', `${name}_big`, '{}', ...args, '--config', config, '--home', tempDir()]);
      const shown = await run();
      expect([shown.code, shown.stdout.trimEnd() === TEXT.trimEnd(), shown.stderr]).toEqual([0, true, '']);
      const raw = await run('--json');
      expect(raw.code).toBe(0);
      expect(at(parseJson(raw.stdout), 'content', 0, 'text') === TEXT).toBe(true);
    });

    it('are one line each on stdio', async () => {
      const pipe = openStdio({ servers: { [name]: servers[name] ?? null } });
      await pipe.initialize();
      expect((await pipe.call(`${name}_big`)) === TEXT).toBe(true);
      for (const line of pipe.lines()) expect(() => parseJson(line)).not.toThrow();
    });
  });
});
