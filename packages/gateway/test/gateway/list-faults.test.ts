import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { checkServers } from '../../src/core/check-servers.ts';
import { listServerStatuses, findMissingReason } from '../../src/gateway/catalog/server-status.ts';
import { LIST_KINDS, LISTS, readList } from '../../src/gateway/catalog/inventory.ts';
import { Catalog } from '../../src/gateway/catalog/catalog.ts';
import type { Connect, Link, ListKind } from '../../src/gateway/ports/link.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { getDefaultSettings } from '../../src/core/resolve-settings.ts';
import { examineServers } from '../../src/gateway/services/examine-servers.ts';
import { buildHealth, sendHealth } from '../../src/edges/mcp/health.ts';
import { readServerMessage, type ResponseMessage } from '@assay-mcp/protocol/message';
import { until } from '../../../../test/support/endings.ts';
import { SILENT } from './listed-server.ts';

function response(members: string): ResponseMessage {
  const message = readServerMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,${members}}`));
  if (message.kind !== 'response') throw new Error(`no response: ${members}`);
  return message;
}

/** A server with all lists. Those in `failing` are answered with the given members of a response. */
function link(failing: Partial<Record<ListKind, string>>): Link {
  return {
    era: 'legacy',
    version: '2025-11-25',
    capabilities: { tools: {}, prompts: {}, resources: {} },
    instructions: undefined,
    unreadBytes: 0,
    correlatesServerRequests: false,
    send: ({ message }) => {
      const kind = LIST_KINDS.find((one) => LISTS[one].method === message.method);
      const members = (kind && failing[kind]) ?? `"result":{"${kind ?? ''}":[]}`;
      return Promise.resolve(ok({ era: 'legacy', message: response(members) }));
    },
    notify() {},
    close: () => Promise.resolve(),
  };
}

const FETCH_FAILED = '"error":{"code":-32603,"message":"fetch failed"}';

describe.each(LIST_KINDS)('a list of %s that a server answers with an error', (kind) => {
  const { method } = LISTS[kind];
  const reading = { timeoutMs: 1_000, before: [] };
  const read = (error: string): ReturnType<typeof readList> =>
    readList(link({ [kind]: error }), kind, reading);

  it('is reported as a fault with the method, the code and the message', async () => {
    expect(await read(FETCH_FAILED)).toEqual({
      ok: false,
      error: { code: 'LIST_REFUSED', method, error: '-32603', message: 'fetch failed' },
    });
  });

  it('has its message truncated and its control characters escaped', async () => {
    const hostile = JSON.stringify(`\u001b[2J${'x'.repeat(10_000)}`);
    expect(await read(`"error":{"code":-1,"message":${hostile}}`)).toEqual({
      ok: false,
      error: { code: 'LIST_REFUSED', method, error: '-1', message: `\\u001b[2J${'x'.repeat(196)}…` },
    });
  });

  it(`is ${kind === 'tools' ? 'a fault' : 'empty'} if the server does not know the method`, async () => {
    const answer = await read('"error":{"code":-32601,"message":"Method not found"}');
    if (kind === 'tools') expect(answer).toMatchObject({ ok: false, error: { code: 'LIST_REFUSED' } });
    else expect(answer).toMatchObject({ ok: true, value: { definitions: [] } });
  });

  it('has placeholders for a missing code and message', async () => {
    expect(await read('"error":{}')).toEqual({
      ok: false,
      error: { code: 'LIST_REFUSED', method, error: '(no code)', message: '(no message)' },
    });
  });

  it('appears in the status of the server, in health and in `assay tools`, with secrets masked', async () => {
    const catalog = openCatalog({ [kind]: '"error":{"code":-32603,"message":"no SECRET fits"}' });
    catalog.start();
    await until('it is up', () => (catalog.servers[0]?.state.state === 'up' ? true : undefined));
    const cause = `${method} failed: -32603 no [masked] fits`;
    const [status] = listServerStatuses(catalog);
    expect(status).toEqual({
      name: 'a',
      state: 'up',
      era: 'legacy',
      revision: '2025-11-25',
      ...(kind !== 'tools' && { tools: 0 }),
      listFaults: [{ list: kind, cause, causeCode: 'LIST_REFUSED' }],
    });
    expect(buildHealth(catalog, { uptimeMs: 0, isStopping: false }).status).toBe('degraded');
    expect(status && findMissingReason(status)).toBe(`server a is up, but ${cause}`);
    await catalog.stop();
  });

  it('is reported as a problem by doctor', async () => {
    const examined = await examineServers({
      catalog: openCatalog({ [kind]: FETCH_FAILED }),
      connectAgain: () => Promise.resolve(err({ code: 'START_FAILED' })),
      logsOf: () => ({ stderr: [], warnings: [] }),
      mask: (text) => text,
      onNews: () => undefined,
      signal: new AbortController().signal,
    });
    const [finding] = checkServers(examined, new Set());
    expect([finding?.level, finding?.code]).toEqual(['problem', 'LIST_REFUSED']);
    expect(finding?.message).toContain(`${method} failed: -32603 fetch failed`);
  });
});

it('a server that lists everything is healthy, and nothing is missing from it', async () => {
  const catalog = openCatalog({});
  catalog.start();
  await until('it is up', () => (catalog.servers[0]?.state.state === 'up' ? true : undefined));
  expect(listServerStatuses(catalog).map(findMissingReason)).toEqual([undefined]);
  expect(buildHealth(catalog, { uptimeMs: 0, isStopping: false }).status).toBe('ok');
  await catalog.stop();
});

it('whoever gets only the status of health does not make Assay count tools', async () => {
  const { servers, rejected } = openCatalog({});
  let reads = 0;
  const catalog = {
    ...{ servers, rejected, configFault: undefined, reports: () => [] },
    get all() {
      reads += 1;
      return { listing: () => ({ entries: [], disabled: [] }) };
    },
  } as unknown as Catalog;
  const facts = { catalog, uptimeMs: 0, isStopping: false };
  const shown = async (isFull: boolean): Promise<unknown> => {
    const server = createServer((_, response) => sendHealth(response, { ...facts, isFull }));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const answer: unknown = await (await fetch(`http://127.0.0.1:${port}`)).json();
    server.close();
    return answer;
  };
  expect([await shown(false), reads]).toEqual([{ status: 'starting' }, 0]);
  expect(await shown(true)).toMatchObject({ status: 'starting', servers: [{ name: 'a' }] });
  expect(reads).toBe(1);
});

function openCatalog(failing: Partial<Record<ListKind, string>>): Catalog {
  const connect: Connect = () => Promise.resolve(ok(link(failing)));
  const transport = { kind: 'stdio', command: 'none', args: [], env: {}, cwd: '/' } as const;
  const spec = { name: 'a', transport, timeoutMs: 1_000, prefix: true, isolation: 'shared' } as const;
  return new Catalog(
    { servers: [spec], rejected: [] },
    {
      connect,
      memory: { recall: () => undefined, remember() {}, recallAbsence: () => false, rememberAbsence() {} },
      log: SILENT,
      limits: getDefaultSettings(),
      chance: () => 0,
      mask: (text) => text.replaceAll('SECRET', '[masked]'),
    },
  );
}
