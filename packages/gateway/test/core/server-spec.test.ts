import { describe, expect, it } from 'vitest';
import {
  computeIdentity,
  isSameServer,
  isSameTransport,
  computeOriginIdentity,
} from '../../src/core/server-identity.ts';
import type { ServerSpec, Transport } from '../../src/core/server-spec.ts';

const STDIO: Transport = { kind: 'stdio', command: 'npx', args: ['a'], env: { A: '1', B: '2' }, cwd: '/' };
const HTTP: Transport = {
  kind: 'http',
  flavour: 'auto',
  url: new URL('https://mcp.example/mcp?a=1'),
  headers: { x: '1' },
};

function spec(transport: Transport, more: Partial<ServerSpec> = {}): ServerSpec {
  return { name: 'a', transport, timeoutMs: 1, prefix: true, isolation: 'shared', ...more };
}

/** Same server, same route, same identity. */
function alike(one: ServerSpec, other: ServerSpec): readonly boolean[] {
  return [
    isSameServer(one, other),
    isSameTransport(one, other),
    computeIdentity(one) === computeIdentity(other),
  ];
}

describe('two entries', () => {
  it('are equal whatever the order of their variables and headers', () => {
    const other: Transport = { ...STDIO, env: { B: '2', A: '1' } };
    expect(alike(spec(STDIO), spec(other))).toEqual([true, true, true]);
  });

  it.each<[string, Transport, Transport, readonly boolean[]]>([
    ['another command', STDIO, { ...STDIO, command: 'uvx' }, [false, false, false]],
    ['other arguments', STDIO, { ...STDIO, args: ['a', 'b'] }, [false, false, false]],
    [
      'arguments split differently',
      { ...STDIO, args: ['a b'] },
      { ...STDIO, args: ['a', 'b'] },
      [false, false, false],
    ],
    ['another environment', STDIO, { ...STDIO, env: {} }, [false, false, true]],
    ['another default working folder', STDIO, { ...STDIO, cwd: '/x' }, [false, false, true]],
    ['an explicit working folder', STDIO, { ...STDIO, cwd: '/x', isCwdGiven: true }, [false, false, false]],
    ...['server.js', './server', '../x/run.py', '--import=./hook.mjs', '-m'].map(
      (arg): [string, Transport, Transport, readonly boolean[]] => [
        `a relative ${arg} in another folder`,
        { ...STDIO, command: 'node', args: [arg] },
        { ...STDIO, command: 'node', args: [arg], cwd: '/x' },
        [false, false, false],
      ],
    ),
    [
      'a relative command in another folder',
      { ...STDIO, command: 'bin/server' },
      { ...STDIO, command: 'bin/server', cwd: '/x' },
      [false, false, false],
    ],
    ...['-y', '@scope/server@1.2', '/abs/server.js', 'https://x.example/a.js', '--port=3'].map(
      (arg): [string, Transport, Transport, readonly boolean[]] => [
        `${arg}, which does not depend on the folder, in another folder`,
        { ...STDIO, args: [arg] },
        { ...STDIO, args: [arg], cwd: '/x' },
        [false, false, true],
      ],
    ),
    [
      'another registry token',
      STDIO,
      { ...STDIO, env: { ...STDIO.env, UV_INDEX_PASSWORD: 'x' } },
      [false, false, true],
    ],
    ...['PATH', 'LD_PRELOAD', 'NODE_OPTIONS', 'PYTHONPATH', 'npm_config_registry', 'UV_INDEX'].map(
      (name): [string, Transport, Transport, readonly boolean[]] => [
        `another ${name}`,
        STDIO,
        { ...STDIO, env: { ...STDIO.env, [name]: '/evil' } },
        [false, false, false],
      ],
    ),
    ['another URL', HTTP, { ...HTTP, url: new URL('https://mcp.example/mcp?a=2') }, [false, false, false]],
    ['other headers', HTTP, { ...HTTP, headers: {} }, [false, false, true]],
    ['another transport', HTTP, { ...HTTP, flavour: 'sse' }, [false, false, true]],
    ['a command instead of a URL', HTTP, STDIO, [false, false, false]],
  ])('with %s differ', (_what, one, other, expected) => {
    expect(alike(spec(one), spec(other))).toEqual(expected);
  });

  it('have different origin identities if they run different code', () => {
    const origins = [
      STDIO,
      { ...STDIO, cwd: '/x', isCwdGiven: true },
      { ...STDIO, env: { LD_PRELOAD: '/x.so' } },
    ].map((transport) => computeOriginIdentity({ transport }));
    expect(new Set(origins).size).toBe(3);
  });

  it('have the same transport and identity if only limits and names differ', () => {
    for (const more of [
      { timeoutMs: 2 },
      { stopTimeoutMs: 2 },
      { prefix: false },
      { name: 'b' },
      { toolFilter: { deny: ['x'] } },
      { resultLimits: { '*': 10_000 } },
    ])
      expect(alike(spec(STDIO), spec(STDIO, more))).toEqual([false, true, true]);
  });
});
