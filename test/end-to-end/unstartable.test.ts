import { describe, expect, it } from 'vitest';
import { serverIn } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { at } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { fixture, writeText } from '../support/paths.ts';
import { openStdio } from '../support/stdio-gateway.ts';

describe('a server that the system refuses to start', () => {
  it('does not affect other servers, and its cause is shown', async () => {
    const file = writeText('x');
    const assay = await startGateway({
      servers: {
        cwd: fixture('plain', [], { cwd: file }),
        below: { command: `${file}/x` },
        long: { command: 'echo', args: ['x'.repeat(200_000)] },
        plain: fixture('plain'),
      },
    });
    const health = await assay.settled();
    expect(['cwd', 'below', 'long', 'plain'].map((name) => at(serverIn(health, name), 'state'))).toEqual([
      'refused',
      'refused',
      'refused',
      'up',
    ]);
    expect(at(serverIn(health, 'long'), 'cause')).toBe(
      'cannot be started: its arguments or its environment are too long',
    );
    expect(await (await openSession(assay.url)).call('plain_label')).toBe('plain');
  });
});

describe('a server that closes a pipe but keeps running', () => {
  it('fails the call with that cause if it closed stdout, and is restarted', async () => {
    const pipe = openStdio({ servers: { deaf: fixture('deaf') } });
    await pipe.initialize();
    const answer = await pipe.ask('tools/call', { name: 'deaf_mute', arguments: {} });
    expect(at(answer, 'error', 'data')).toEqual({
      code: 'SERVER_ENDED',
      server: 'deaf',
      cause: 'closed its stdout without ending',
      causeCode: 'STDOUT_CLOSED',
      sent: { effect: 'unknown', times: 1, mayRepeat: false },
    });
    expect(await pipe.call('deaf_hear')).toBe('yes');
  });

  it('fails the next call with that cause if it closed stdin, and is restarted', async () => {
    const pipe = openStdio({ servers: { deaf: fixture('deaf') } });
    await pipe.initialize();
    expect(await pipe.call('deaf_deaf')).toBe('what?');
    const answer = await pipe.ask('tools/call', { name: 'deaf_hear', arguments: {} });
    expect(at(answer, 'error', 'data')).toEqual({
      code: 'SERVER_ENDED',
      server: 'deaf',
      cause: 'closed its stdin without ending',
      causeCode: 'STDIN_CLOSED',
      sent: { effect: 'unknown', times: 1, mayRepeat: false },
    });
    expect(await pipe.call('deaf_hear')).toBe('yes');
  });
});
