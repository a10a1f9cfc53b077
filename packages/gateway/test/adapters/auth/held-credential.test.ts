import { expect, it } from 'vitest';
import { HeldCredential } from '../../../src/adapters/auth/held-credential.ts';
import type { RememberedChallenge } from '../../../src/adapters/auth/remembered-challenge.ts';
import { createReachRules } from '../../../src/core/reach-rules.ts';
import { SILENT } from '../../gateway/listed-server.ts';

it('a server that sends another challenge with each refusal writes a bounded number of them', async () => {
  const saved: RememberedChallenge[] = [];
  const held = new HeldCredential({
    server: 's',
    asked: { url: new URL('http://127.0.0.1/mcp'), chooser: 'config' },
    rules: createReachRules({ isOnNetwork: false, allowLoopback: false, allowPrivate: false }),
    subject: 'local',
    log: SILENT,
    credentials: () => Promise.reject(new Error('not opened')),
    read: () => Promise.resolve(),
    saveChallenge: (challenge) => Promise.resolve(saved.push(challenge) > 0),
  });
  for (let index = 0; index < 100; index += 1) {
    const resourceMetadata = new URL(`https://s.example/${index}`);
    await held.refused({ kind: 'invalid', scope: undefined, resourceMetadata }, undefined);
  }
  expect(saved).toHaveLength(10);
});
