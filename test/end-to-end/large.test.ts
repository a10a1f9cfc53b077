import { describe, expect, it } from 'vitest';
import { startHttp } from '../fixtures/http.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater } from '../support/endings.ts';
import { openSession } from '../support/legacy.ts';
import { fixture } from '../support/paths.ts';
import { openStdio } from '../support/stdio-gateway.ts';

const SIZE = 50 * 1024 * 1024;

describe('50 MB are relayed', () => {
  it('to and from a stdio server and an HTTP server, over HTTP', async () => {
    const http = await startHttp('legacy');
    endLater(() => http.close());
    const assay = await startGateway({
      servers: { plain: fixture('plain'), web: { type: 'http', url: http.url } },
    });
    await assay.settled();
    const session = await openSession(assay.url);
    expect((await session.call('plain_big', { bytes: SIZE })).length).toBe(SIZE);
    const text = 'y'.repeat(SIZE);
    expect((await session.call('plain_echo', { text })).length).toBe(SIZE + '{"text":""}'.length);
    expect((await session.call('web_echo', { text })).length).toBe(SIZE + '{"text":""}'.length);
  });

  it('through stdio', async () => {
    const pipe = openStdio({ servers: { plain: fixture('plain') } });
    await pipe.initialize();
    await pipe.ask('tools/list');
    expect((await pipe.call('plain_big', { bytes: SIZE })).length).toBe(SIZE);
  });
});
