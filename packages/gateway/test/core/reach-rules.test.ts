import type { Reach } from '@assay-mcp/kit/reach';
import { describe, expect, it } from 'vitest';
import {
  getNamedUrlChooser,
  formatReachRemedy,
  createReachRules,
  toOutbound,
  type Namer,
  type UrlChooser,
} from '../../src/core/reach-rules.ts';

const ALL: readonly Reach[] = ['public', 'private', 'loopback', 'link-local', 'metadata', 'reserved'];
const CHOOSERS: readonly UrlChooser[] = ['config', 'operator', 'private_source', 'public_source'];

/** By the chooser of the URL: the reaches in order, each by its first letter. */
function table(isOnNetwork: boolean, allowLoopback: boolean, allowPrivate: boolean): string {
  const rules = createReachRules({ isOnNetwork, allowLoopback, allowPrivate });
  const shown = (chooser: UrlChooser): string =>
    ALL.filter((reach) => rules[chooser].has(reach))
      .map((reach) => (reach === 'private' ? 'intranet' : reach)[0])
      .join('');
  return CHOOSERS.map(shown).join(' ');
}

describe('where Assay may connect', () => {
  it.each([
    // on the network, loopback allowed, private allowed: config, operator, private source, public source
    [false, false, false, 'pilr pl p p'],
    [false, true, false, 'pilr pl pl p'],
    [false, false, true, 'pilr pil pi p'],
    [false, true, true, 'pilr pil pil p'],
    [true, false, false, 'pilr p p p'],
    [true, true, false, 'pilr pl pl p'],
    [true, false, true, 'pilr pi pi p'],
    [true, true, true, 'pilr pil pil p'],
  ])(
    'depends on who chose the URL (on the network %s, loopback %s, private %s)',
    (network, loopback, priv, rules) => {
      expect(table(network, loopback, priv)).toBe(rules);
    },
  );
});

describe('a URL named by a document or a server', () => {
  const namer = (url: string | undefined, isPublic: boolean): Namer => ({
    url: url === undefined ? undefined : new URL(url),
    chooser: 'config',
    isPublic,
  });

  it.each<[string, Namer, UrlChooser]>([
    ['http://10.0.0.1/b', namer('http://10.0.0.1/a', false), 'config'],
    ['http://10.0.0.1:80/b', namer('http://10.0.0.1/a', true), 'config'],
    ['http://10.0.0.1:81/b', namer('http://10.0.0.1/a', false), 'private_source'],
    ['https://10.0.0.1/b', namer('http://10.0.0.1/a', false), 'private_source'],
    ['http://10.0.0.1/b', namer('http://api.example/a', true), 'public_source'],
    ['http://10.0.0.1/b', namer(undefined, false), 'private_source'],
  ])(
    '%s keeps the chooser of its source on the same origin, else counts as chosen by the source',
    (target, by, chooser) => {
      expect(getNamedUrlChooser(new URL(target), by)).toBe(chooser);
    },
  );
});

describe('the remedy for a forbidden address', () => {
  it('names the setting and where to set it, unless no setting helps', () => {
    expect(formatReachRemedy(['loopback'], 'operator')).toBe(
      'to allow it, set http.allowLoopback (ASSAY_HTTP_ALLOW_LOOPBACK=true) in the environment or in "settings" of the config file',
    );
    expect(formatReachRemedy(['private', 'metadata'], 'private_source')).toContain(
      'ASSAY_HTTP_ALLOW_PRIVATE=true',
    );
    expect(formatReachRemedy(['private'], 'public_source')).not.toContain('ASSAY');
    for (const reach of ['metadata', 'link-local', 'reserved'] as const)
      for (const chooser of CHOOSERS)
        expect(formatReachRemedy([reach], chooser)).toBe('no setting allows that');
  });
});

describe('the way through a proxy', () => {
  const ofEnvironment = { url: new URL('http://env.example:3128'), reaches: new Set(ALL) };
  const rules = createReachRules({
    ...{ isOnNetwork: false, allowLoopback: false, allowPrivate: false },
    findProxy: ({ host }) => (host === 'excluded.example' ? undefined : ofEnvironment),
  });
  const target = { protocol: 'https:', host: 'a.example', port: 443 } as const;
  const proxyOf = (...way: Parameters<typeof toOutbound>): unknown => {
    const found = toOutbound(...way)?.findProxy(target);
    return found && 'url' in found ? [found.url.href, found.reaches] : found;
  };

  it('is the proxy of the entry before that of the environment, which may be where its entry may lead', () => {
    const proxy = 'http://u:p@own.example:3128';
    expect(proxyOf(rules, 'config')).toEqual(['http://env.example:3128/', new Set(ALL)]);
    expect(proxyOf(rules, 'config', { proxy })).toEqual([`${proxy}/`, rules.config]);
    expect(proxyOf(rules, 'operator', { proxy })).toEqual([`${proxy}/`, rules.operator]);
    expect(toOutbound(rules, 'config', { proxy: false })).toBeUndefined();
    expect(toOutbound(rules, 'config')?.findProxy({ ...target, host: 'excluded.example' })).toBeUndefined();
  });

  it('does not exist without a proxy', () => {
    const { findProxy, ...plain } = rules;
    expect([findProxy === undefined, toOutbound(plain, 'config', { proxyResolves: true })]).toEqual([
      false,
      undefined,
    ]);
  });

  it.each<[UrlChooser, boolean]>([
    ['config', true],
    ['operator', true],
    ['private_source', false],
    ['public_source', false],
  ])('lets the proxy resolve names only for URLs of the entry itself: %s %s', (chooser, expected) => {
    const proxy = 'http://own.example:3128';
    const way = toOutbound(rules, chooser, { proxy, proxyResolves: true }, 'config');
    expect(way?.proxyResolves).toBe(expected);
    expect(way?.findProxy(target)).toMatchObject({ reaches: rules.config });
    expect(way?.key).not.toBe(toOutbound(rules, chooser, { proxy: 'http://b.example' }, 'config')?.key);
  });
});
