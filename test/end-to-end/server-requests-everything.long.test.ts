import { beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { ACCEPT, ASKABLE, type Askable } from '../support/askable.ts';
import { startEverything } from '../support/everything.ts';
import { at } from '../support/json.ts';
import { installed } from '../support/paths.ts';

let url: string;
beforeAll(async () => {
  const [streamable, sse] = await Promise.all([startEverything('streamableHttp'), startEverything('sse')]);
  const assay = await startGateway({
    servers: {
      line: { ...installed('everything'), isolation: 'session' },
      http: { url: `http://127.0.0.1:${streamable}/mcp` },
      sse: { type: 'sse', url: `http://127.0.0.1:${sse}/sse` },
    },
  });
  await assay.settled();
  ({ url } = assay);
});

const SERVERS = ['line', 'http', 'sse'] as const;

describe.for(ASKABLE)('the official example server asks a client $label', ({ era, connect }) => {
  let client: Askable;
  beforeAll(async () => {
    client = await connect({ url });
  });

  it.for(SERVERS)('for input, a sample and roots, and to open a link, behind %s', async (server) => {
    client.answerWith((method, params) =>
      method === 'elicitation/create' && at(params, 'mode') !== 'url'
        ? { action: 'accept', content: { name: 'Ada', check: true } }
        : ACCEPT(method, params),
    );
    expect(await client.call(`${server}_trigger-elicitation-request`)).toContain(
      'provided the requested information',
    );
    const sample = await client.call(`${server}_trigger-sampling-request`, {
      prompt: 'Say it',
      maxTokens: 10,
    });
    expect(sample).toContain('said');
    // It requests roots outside the call, where nothing identifies a modern client of an HTTP server.
    const isTold = era === 'legacy' || server !== 'http';
    const roots = await client.call(`${server}_get-roots-list`);
    expect(roots).toContain(isTold ? 'file:///a' : 'no roots are currently configured');
    const link = { url: 'https://example.com/in', message: 'Sign in', elicitationId: 'one' };
    expect(await client.call(`${server}_trigger-url-elicitation`, link)).toContain('completed');
    client.answerWith(() => ({ action: 'decline' }));
    expect(await client.call(`${server}_trigger-elicitation-request`)).toContain('declined');
    client.answerWith(() => ({ action: 'cancel' }));
    expect(await client.call(`${server}_trigger-elicitation-request`)).toContain('cancelled');
  });
});

it('the official example server lists its asking tools for all clients, and refuses those it cannot ask', async () => {
  for (const { connect } of ASKABLE) {
    const client = await connect({ url }, { capabilities: {} });
    const tools = await client.tools();
    for (const server of SERVERS) {
      for (const name of [
        'trigger-elicitation-request',
        'trigger-sampling-request',
        'trigger-url-elicitation',
      ])
        expect(tools).toContain(`${server}_${name}`);
      expect(await client.call(`${server}_trigger-elicitation-request`)).toMatch(/not found|unknown/i);
    }
    await client.close();
  }
});
