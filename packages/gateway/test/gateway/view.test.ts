import { describe, expect, it } from 'vitest';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { joinInstructions } from '../../src/core/instructions.ts';
import { err } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../src/core/sentences.ts';
import type { Refusal } from '../../src/core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { ListKind } from '../../src/gateway/ports/link.ts';
import type { Server } from '../../src/gateway/catalog/server.ts';
import { View } from '../../src/gateway/catalog/view.ts';
import { inventoryOf, listed, resource, standing, template, tool } from './listed-server.ts';

function viewOf(servers: readonly Server[], isAggregated = true): View {
  return new View({
    endpoint: 'all',
    servers: () => servers,
    isAggregated,
    settled: () => Promise.resolve(),
  });
}

/** The owner, as `server` or `server.name`, or the sentence of the refusal. */
function outcomeOf(
  found: Result<Server | { readonly server: Server; readonly name: string }, Refusal>,
): string {
  if (!found.ok) return formatRefusal(found.error);
  return 'spec' in found.value
    ? found.value.spec.name
    : `${found.value.server.spec.name}.${found.value.name}`;
}

/** Starts the server, which the test stops, and waits until it has settled. */
async function started(server: Server): Promise<Server> {
  const { inventory } = server;
  server.start();
  await server.settled();
  server.lists.inventory = inventory;
  return server;
}

describe('a resource belongs to', () => {
  const check = async (servers: readonly Server[], uri: string, expected: string): Promise<void> => {
    expect([uri, outcomeOf(await viewOf(servers).resource(uri))]).toEqual([uri, expected]);
  };
  const unknown = (uri: string): string => `No server offers the resource "${uri}".`;
  const files = listed('files', {
    resources: [resource('file:///a')],
    resourceTemplates: [template('file:///{name}')],
  });
  const other = listed('other', { resources: [resource('file:///b/c'), resource('memo:1')] });
  const bare = listed('bare');

  it('the server that lists it', async () => {
    await check([files, other], 'file:///a', 'files');
    await check([files, other], 'file:///b/c', 'other');
    await check([bare, other], 'memo:1', 'other');
  });

  it('the first of several that list it', async () => {
    await check([files, listed('twin', { resources: [resource('file:///a')] })], 'file:///a', 'files');
  });

  it('otherwise the first with a matching template', async () => {
    await check([other, files], 'file:///new', 'files');
    await check(
      [files, listed('twin', { resourceTemplates: [template('file:///{x}')] })],
      'file:///new',
      'files',
    );
  });

  it('otherwise the only one with a resource or template of its scheme, ignoring case', async () => {
    await check([files, other, bare], 'memo:2', 'other');
    await check([files, bare], 'FILE:///deep/er', 'files');
  });

  it('no server if several or none have anything of its scheme', async () => {
    await check([files, other], 'file:///deep/er', unknown('file:///deep/er'));
    await check([files, other], 'http://x', unknown('http://x'));
    await check([], 'http://x', unknown('http://x'));
  });

  it('the only server there is', async () => {
    await check([bare], 'http://x', 'bare');
    await check([files], 'no-scheme', 'files');
  });

  it('no server without the resources capability', async () => {
    const none = await started(listed('none', {}, { connect: standing({ tools: {} }) }));
    await check([none], 'http://x', unknown('http://x'));
    await check([none, bare], 'http://x', 'bare');
    await none.stop();
  });
});

describe('a template belongs to', () => {
  it('the server that lists it, otherwise to the owner of the resource with that URI', async () => {
    const a = listed('a', { resourceTemplates: [template('x:{y}')] });
    const b = listed('b', { resourceTemplates: [template('z:{y}')] });
    expect(outcomeOf(await viewOf([a, b]).template('z:{y}'))).toBe('b');
    expect(outcomeOf(await viewOf([a, b]).template('x:{other}'))).toBe('a');
    expect(outcomeOf(await viewOf([a, b]).template('q:{y}'))).toBe('No server offers the resource "q:{y}".');
  });
});

describe('a tool or prompt', () => {
  const failing = (exitCode: number) => () =>
    Promise.resolve(err({ code: 'PROCESS_EXITED', exitCode } as const));

  it('is found by its public name, or by its original name at the endpoint of its server', async () => {
    const a = listed('a', { tools: [tool('x')] });
    expect(outcomeOf(await viewOf([a]).tool('a_x'))).toBe('a.x');
    expect(outcomeOf(await viewOf([a], false).tool('x'))).toBe('a.x');
  });

  it('is unknown if no server lists it, once all have listed theirs', async () => {
    const a = await started(listed('a', { tools: [tool('x')] }, { connect: standing({}) }));
    expect(outcomeOf(await viewOf([a]).tool('x'))).toBe(
      'Unknown tool "x". "tools/list" or `assay tools` lists all tools.',
    );
    await a.stop();
  });

  it('is refused with both candidates if its name is ambiguous (tool)', async () => {
    const view = viewOf([listed('a', { tools: [tool('b_c')] }), listed('a_b', { tools: [tool('c')] })]);
    expect(outcomeOf(await view.tool('a_b_c'))).toBe(
      'The name "a_b_c" is ambiguous. Use one of: a_b_c_5b8f934a, a_b_c_a3715283.',
    );
  });

  it('is refused with both candidates if its name is ambiguous (prompt)', async () => {
    const [a, b] = [listed('a', { prompts: [{ name: 'b_c' }] }), listed('a_b', { prompts: [{ name: 'c' }] })];
    expect(outcomeOf(await viewOf([a, b]).prompt('a_b_c'))).toContain(
      'Use one of: a_b_c_5b8f934a, a_b_c_a3715283.',
    );
  });

  it('is withheld, with the reason, if no client would accept it', async () => {
    expect(outcomeOf(await viewOf([listed('a', { tools: [{ name: 'x' }] })]).tool('a_x'))).toBe(
      'The tool "a_x" is withheld: inputSchema is absent.',
    );
  });

  it('is not called unknown if it may be on an unavailable server', async () => {
    const a = await started(listed('a', {}, { connect: failing(7) }));
    const starting = listed('b');
    const view = viewOf([a, starting, listed('bare', {}, { prefix: false })]);
    expect(outcomeOf(await view.tool('a_x'))).toBe('Server "a" is not available: exited with code 7.');
    expect(outcomeOf(await view.tool('b_x'))).toBe('Server "b" is not available: it has not started yet.');
    expect(outcomeOf(await view.tool('c_x'))).toContain('Unknown tool "c_x"');
    expect(outcomeOf(await viewOf([a], false).prompt('x'))).toBe(
      'Server "a" is not available: exited with code 7.',
    );
    await a.stop();
  });

  it('is waited for while its server starts', async () => {
    const start = Promise.withResolvers<undefined>();
    const a = listed('a', {}, { connect: () => start.promise.then(() => err({ code: 'START_FAILED' })) });
    a.start();
    const view = viewOf([a, listed('other')]);
    const found = view.tool('a_x', new Cancellation());
    await new Promise((resolve) => setImmediate(resolve));
    a.lists.inventory = { ...a.inventory, ...inventoryOf({ tools: [tool('x')] }) };
    view.invalidate();
    start.resolve(undefined);
    expect(outcomeOf(await found)).toBe('a.x');
    await a.stop();
  });

  it('is waited for until the call is cancelled', async () => {
    const cancellation = new Cancellation();
    const found = viewOf([listed('a')]).tool('a_x', cancellation);
    cancellation.cancel();
    expect(outcomeOf(await found)).toBe('Server "a" is not available: it has not started yet.');
  });

  it('is found if its server became ready during the wait for the first list', async () => {
    const a = listed('a');
    const settled = async (): Promise<void> => {
      a.lists.inventory = { ...a.inventory, ...inventoryOf({ tools: [tool('x')] }) };
      view.invalidate();
    };
    const view = new View({
      endpoint: 'all',
      servers: () => [a],
      isAggregated: true,
      settled,
    });
    expect(outcomeOf(await view.tool('a_x'))).toBe('a.x');
  });
});

describe('the endpoint of a single server', () => {
  it('refuses to list, with the cause, if the server was never ready', async () => {
    const a = await started(
      listed('a', {}, { connect: () => Promise.resolve(err({ code: 'START_FAILED' })) }),
    );
    const page = await viewOf([a], false).page('tools', 'legacy', {});
    expect(page).toEqual({
      ok: false,
      error: { code: 'SERVER_UNAVAILABLE', server: 'a', cause: { code: 'START_FAILED' } },
    });
    expect((await viewOf([a]).page('tools', 'legacy', {})).ok).toBe(true);
    await a.stop();
  });
});

describe('instructions and capabilities', () => {
  it('are joined under the servers’ names; a single server’s stay unchanged', async () => {
    const a = await started(listed('a', {}, { connect: standing({ prompts: {} }, 'Be kind.') }));
    const b = await started(listed('b', {}, { connect: standing({}, 'Be quick.') }));
    expect(viewOf([a, b, listed('c')]).instructions()).toBe(
      joinInstructions(
        [
          { name: 'a', text: 'Be kind.' },
          { name: 'b', text: 'Be quick.' },
        ],
        65_536,
      )?.text,
    );
    expect([viewOf([a], false).instructions(), viewOf([listed('c')]).instructions()]).toEqual([
      'Be kind.',
      undefined,
    ]);
    const has = (servers: readonly Server[]): boolean => viewOf(servers).has('prompts');
    expect([has([a]), has([b]), has([a, b]), has([b, listed('c')]), has([])]).toEqual([
      true,
      false,
      true,
      true,
      false,
    ]);
    await Promise.all([a.stop(), b.stop()]);
  });
});

describe('changes', () => {
  it('are announced once, per changed list, and not to clients that left', () => {
    const announced: (readonly ListKind[])[] = [];
    const server = listed('a', { tools: [tool('x')] });
    const view = viewOf([server]);
    const leave = view.onChange((kinds) => announced.push(kinds));
    const change = (lists: Parameters<typeof inventoryOf>[0]): void => {
      server.lists.inventory = { ...server.inventory, ...inventoryOf(lists) };
      view.invalidate();
    };
    view.announce();
    view.announce();
    view.invalidate();
    view.announce();
    change({ resources: [resource('a:b')], prompts: [{ name: 'p' }] });
    change({ prompts: [] });
    view.announce();
    leave();
    change({ tools: [] });
    view.announce();
    expect(announced).toEqual([['tools'], ['resources']]);
  });
});
