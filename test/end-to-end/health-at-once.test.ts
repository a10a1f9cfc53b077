import { describe, expect, it } from 'vitest';
import { serverIn } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { at } from '../support/json.ts';
import { patient } from '../support/patience.ts';
import { fixture } from '../support/place.ts';

describe('the endpoint opens before the servers are ready', () => {
  it('/health answers while servers start, and says which hang', async () => {
    const beforeMs = Date.now();
    const assay = await startGateway({
      servers: { hanger: fixture('hanger'), plain: fixture('plain') },
    });
    expect(Date.now() - beforeMs).toBeLessThan(patient(3_000));
    expect(at(serverIn(await assay.health(), 'hanger'), 'state')).toBe('starting');
  });
});
