import { describe, expect, it } from 'vitest';
import { serverIn } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { at } from '../support/json.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture } from '../support/paths.ts';

describe('the endpoint opens before the servers are ready', () => {
  it('/health answers while servers start, and says which ones hang', async () => {
    const beforeMs = Date.now();
    const assay = await startGateway({
      servers: { hanger: fixture('hanger'), plain: fixture('plain') },
    });
    expect(Date.now() - beforeMs).toBeLessThan(scaledMs(3_000));
    expect(at(serverIn(await assay.health(), 'hanger'), 'state')).toBe('starting');
  });
});
