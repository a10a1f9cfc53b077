import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { BuiltInRun } from '../../../src/adapters/sources/built-in-run.ts';
import type { BuiltInCall, BuiltInResult, BuiltInTool } from '../../../src/adapters/sources/built-in-tool.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { Refusal } from '../../../src/core/refusal.ts';
import { readClientMessage } from '@assay-mcp/protocol/message';
import { sleep } from '../../../../../test/support/endings.ts';

const CALL = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"tool"}}';

function outcome(
  tool: Partial<BuiltInTool>,
  onServerRequest?: () => void,
  call = CALL,
): Promise<Result<string, Refusal>> {
  const message = readClientMessage(Buffer.from(call));
  if (message.kind !== 'request') throw new Error('no request');
  const whole: BuiltInTool = {
    definition: { name: 'tool', inputSchema: { type: 'object' } },
    facts: { kind: 'rest' },
    run: () => Promise.resolve({ content: [] }),
    ...tool,
  };
  const request = {
    message,
    era: 'legacy' as const,
    name: undefined,
    clientInfo: undefined,
    timeoutMs: 50,
    cancellation: undefined,
    onServerRequest,
  };
  return new BuiltInRun({ server: 'own', tool: whole, request, mask: (text) => text }).done;
}

describe('a call of a built-in tool', () => {
  it('is refused before it runs if it has too many values to parse at once', async () => {
    const call = CALL.replace('"tool"', `"tool","arguments":{"x":[${'0,'.repeat(200_000)}0]}`);
    const run = (): Promise<BuiltInResult> => expect.unreachable();
    const reason = 'they are too large: at most 16 MiB and 200,000 values are read';
    expect(await outcome({ run }, undefined, call)).toEqual({
      ok: false,
      error: { code: 'PARAMS_INVALID', field: 'params.arguments', reason },
    });
  });

  it('that only reports progress may run for thirty time limits, and then ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    onTestFinished(() => void vi.useRealTimers());
    let call: BuiltInCall | undefined;
    const run = (_: unknown, running: BuiltInCall): Promise<BuiltInResult> => {
      call = running;
      return new Promise(() => undefined);
    };
    let ended: Result<string, Refusal> | undefined;
    void outcome({ run }).then((end) => (ended = end));
    for (let ms = 0; ms < 1_500; ms += 10) {
      // The last report that counts comes within 1,450 ms, and starts the last limit.
      if (ms <= 1_450) expect(ended, `after ${ms} ms`).toBeUndefined();
      await vi.advanceTimersByTimeAsync(10);
      call?.progress(ms);
    }
    await vi.advanceTimersByTimeAsync(50);
    expect(ended).toEqual({ ok: false, error: { code: 'SERVER_TIMEOUT', server: 'own', limitMs: 1_500 } });
    expect(call?.cancellation.isCancelled).toBe(true);
  });

  it('that ends with an open question answers it at once', async () => {
    let answered: unknown;
    const run = async (_: unknown, call: BuiltInCall): Promise<BuiltInResult> => {
      void call.ask('elicitation/create', {}).then((answer) => (answered = answer));
      await sleep(10);
      return { content: [] };
    };
    expect(await outcome({ run }, () => undefined)).toEqual({ ok: true, value: '{"content":[]}' });
    await sleep(10);
    expect(answered).toEqual({ ok: false, error: 'Cannot ask: the call has ended.' });
  });

  it.each<[what: string, result: unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['an error without content', { isError: true }],
    ['a number that JSON has not', { content: [], size: 1n }],
  ])('never throws, whatever the tool returns (%s)', async (_, result) => {
    const { ok } = await outcome({ run: () => Promise.resolve(result as BuiltInResult) }); // against its type
    expect(ok).toBe(false);
  });
});
