import { describe, expect, it } from 'vitest';
import type { ClientSession } from '../../src/gateway/catalog/client-session.ts';
import { acceptsServerRequests, chooseLink, type LinkOwner } from '../../src/gateway/catalog/link-choice.ts';
import type { ServerSpec } from '../../src/core/server-spec.ts';
import type { Link } from '../../src/gateway/ports/link.ts';
import type { Era } from '@assay-mcp/protocol/eras';
import { readClientMessage } from '@assay-mcp/protocol/message';
import { envelope, META } from '../../../../test/support/modern.ts';

type Kind = ReturnType<typeof chooseLink>['kind'];
type Way = 'stdio' | 'http' | 'sse';
/** For a legacy client with a session, and modern clients that do and do not accept server requests. */
type Row = readonly [legacy: Kind, asked: Kind, mute: Kind];

const TABLE: readonly (readonly [Way, Era, 'session' | 'shared', Row])[] = [
  ['stdio', 'legacy', 'shared', ['shared', 'shared', 'shared']],
  ['stdio', 'modern', 'shared', ['shared', 'shared', 'shared']],
  ['stdio', 'legacy', 'session', ['own', 'once', 'once']],
  ['stdio', 'modern', 'session', ['own', 'shared', 'shared']],
  ['http', 'legacy', 'shared', ['shared', 'shared', 'shared']],
  ['http', 'modern', 'shared', ['shared', 'shared', 'shared']],
  ['http', 'legacy', 'session', ['own', 'own', 'own']],
  ['http', 'modern', 'session', ['shared', 'shared', 'shared']],
  ['sse', 'legacy', 'shared', ['shared', 'shared', 'shared']],
  ['sse', 'legacy', 'session', ['own', 'once', 'own']],
];

const LEGACY: ClientSession = {
  id: 'a session',
  profile: { capabilities: '{"elicitation":{}}', clientInfo: undefined, subject: 'local' },
  ask: () => undefined,
  notify: () => undefined,
};

interface Given {
  readonly way: Way;
  readonly era: Era;
  readonly isolation: 'session' | 'shared';
  readonly sole?: boolean;
  readonly owner?: LinkOwner;
  readonly isCodebase?: boolean;
}

function choose(
  { way, era, isolation, sole, owner, isCodebase }: Given,
  client: 'legacy' | 'asked' | 'mute',
  subject = 'local',
): ReturnType<typeof chooseLink> {
  const capabilities = client === 'asked' ? { elicitation: {} } : {};
  const params = { _meta: envelope({ [`${META}clientCapabilities`]: capabilities }) };
  const message = readClientMessage(
    Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })),
  );
  if (message.kind !== 'request') throw new Error('no request');
  const session = client === 'legacy' ? LEGACY : undefined;
  const transport =
    way === 'stdio'
      ? ({
          kind: isCodebase === true ? 'codebase' : 'stdio',
          command: 'a',
          args: [],
          env: {},
          cwd: '/',
        } as const)
      : ({
          kind: 'http',
          url: new URL('http://a'),
          headers: {},
          flavour: way === 'sse' ? 'sse' : 'auto',
        } as const);
  const link = { era, correlatesServerRequests: way === 'http' } as Link; // the only fields that are read
  return chooseLink(
    {
      era: client === 'legacy' ? 'legacy' : 'modern',
      message,
      subject,
      clientInfo: undefined,
      session,
      owner,
    },
    {
      spec: { name: 's', transport, timeoutMs: 1, prefix: true, isolation },
      sole: sole === true ? {} : undefined,
      isPersonal: false,
      asksClient: false,
      sharedRequests: undefined,
    },
    link,
  );
}

describe('the link of an attached client to a shared process', () => {
  const transport = { kind: 'stdio', command: 'a', args: [], env: {}, cwd: '/' } as const;
  const spec: ServerSpec = {
    ...{ name: 's', transport, timeoutMs: 1, prefix: true, isolation: 'shared', isFromConfig: true },
  };
  const other = { ...spec, timeoutMs: 2 };
  const kindOf = (given: {
    readonly asksClient?: boolean;
    readonly isOnlyUser?: boolean;
    readonly isOffered?: boolean;
    readonly capabilities?: string;
    readonly own?: ServerSpec;
    readonly era?: Era;
  }): unknown => {
    const {
      asksClient = false,
      isOnlyUser = false,
      isOffered = true,
      capabilities = '{"roots":{}}',
      own,
    } = given;
    const session = { ...LEGACY, profile: { ...LEGACY.profile, capabilities } };
    const choice = chooseLink(
      {
        ...{ era: 'legacy', message: undefined, subject: 'local', clientInfo: undefined, session },
        attached: { id: 'attached', specFor: () => own },
      },
      {
        ...{ spec, sole: undefined, isPersonal: false, asksClient },
        sharedRequests: { isOffered, isOnlyUser: () => isOnlyUser },
      },
      { era: given.era ?? 'legacy' } as Link, // the only field that is read
    );
    return choice.kind === 'own' ? [choice.key, choice.spec?.timeoutMs] : choice.kind;
  };

  it('is the shared one while its server asks nothing, or has asked this client alone', () => {
    expect(kindOf({})).toBe('shared');
    expect(kindOf({ asksClient: true, isOnlyUser: true })).toBe('shared');
    expect(kindOf({ asksClient: true })).toEqual(['attached', undefined]);
    // A modern server asks in the result of a call.
    expect(kindOf({ asksClient: true, era: 'modern' })).toBe('shared');
  });

  it('is its own if the process was told of a client that answers nothing, and this one would', () => {
    expect(kindOf({ isOffered: false })).toEqual(['attached', undefined]);
    expect(kindOf({ isOffered: false, capabilities: '{}' })).toBe('shared');
  });

  it('is its own where its variables make another entry', () => {
    expect(kindOf({ own: other })).toEqual(['attached', 2]);
    expect(kindOf({ own: other, era: 'modern' })).toEqual(['attached', 2]);
  });
});

describe('the link of a request', () => {
  it.for(TABLE)('to a server over %s, %s, isolation %s: %j', ([way, era, isolation, row]) => {
    const given = { way, era, isolation };
    const kinds = (['legacy', 'asked', 'mute'] as const).map((client) => choose(given, client).kind);
    expect(kinds).toEqual(row);
    // A single client needs no private link.
    for (const client of ['legacy', 'asked', 'mute'] as const)
      expect(choose({ ...given, sole: true }, client).kind).toBe('shared');
  });

  it('is shared by modern clients only if subject and capabilities are equal', () => {
    const given = { way: 'http', era: 'legacy', isolation: 'session' } as const;
    const keyOf = (...who: readonly ['asked' | 'mute', string]): string => {
      const choice = choose(given, ...who);
      return choice.kind === 'own' ? choice.key : '';
    };
    expect(keyOf('asked', 'a')).toBe(keyOf('asked', 'a'));
    expect(
      new Set([keyOf('asked', 'a'), keyOf('asked', 'b'), keyOf('mute', 'a'), keyOf('mute', 'b')]).size,
    ).toBe(4);
  });
});

describe('a modern client that is known', () => {
  const given = { way: 'stdio', isolation: 'session', owner: { kind: 'client', key: 'who' } } as const;

  it.each(['legacy', 'modern'] as const)('has its own process of a stateful %s server', (era) => {
    for (const client of ['asked', 'mute'] as const)
      expect(choose({ ...given, era }, client)).toMatchObject({ kind: 'own', key: 'who', owner: 'client' });
    expect(choose({ ...given, era }, 'legacy')).toMatchObject({ kind: 'own', key: LEGACY.id });
  });

  it('shares a server that all share, one over HTTP, and the code search, which keeps nothing for it', () => {
    const kinds = [{ isolation: 'shared' }, { way: 'http' }, { isCodebase: true }] as const;
    for (const other of kinds)
      expect(choose({ ...given, era: 'modern', ...other }, 'mute').kind).toBe('shared');
  });
});

describe('a client with capabilities', () => {
  it.for([
    ['{}', undefined, false],
    ['{"elicitation":{}}', undefined, true],
    ['{"elicitation":{}}', 'elicitation/create', true],
    ['{"elicitation":{}}', 'roots/list', false],
    ['{"roots":{}}', 'elicitation/create', false],
    ['{"sampling":{}}', 'sampling/createMessage', true],
    ['{"elicitation":{}}', 'example.com/other', false],
    ['null', undefined, false],
    ['[]', undefined, false],
    ['"elicitation"', undefined, false],
    ['{', undefined, false],
    ['{"__proto__":{"elicitation":{}}}', 'elicitation/create', false],
  ] as const)('%s accepts server requests (%s): %s', ([capabilities, method, expected]) => {
    expect(acceptsServerRequests(capabilities, method)).toBe(expected);
  });
});
