import { expect, it } from 'vitest';
import { findCookieFault, findSessionCookie, setCookie } from '../../src/core/session-cookie.ts';

const HOST = '127.0.0.1:4444';
const OWN = `http://${HOST}`;

it('a cookie is accepted from a page of the same origin, and for reads from the user directly', () => {
  const verdict = (
    method: string,
    origin?: string,
    fetchSite?: string,
    host: string | undefined = HOST,
  ): string => (findCookieFault({ method, host, origin, fetchSite }) === undefined ? 'in' : 'out');
  const cases: readonly (readonly [string, ...Parameters<typeof verdict>])[] = [
    ['in', 'GET'],
    ['in', 'GET', undefined, 'none'],
    ['in', 'GET', undefined, 'same-origin'],
    ['in', 'GET', OWN, 'same-origin'],
    ['in', 'POST', OWN],
    ['in', 'POST', OWN, 'same-origin'],
    ['in', 'POST', 'https://assay.example', 'same-origin', 'assay.example'],
    // Another port of the same host is the same site, so SameSite does not stop it.
    ['out', 'GET', undefined, 'same-site'],
    ['out', 'GET', 'http://127.0.0.1:3000'],
    ['out', 'GET', undefined, 'cross-site'],
    ['out', 'POST', OWN, 'same-site'],
    ['out', 'POST', 'http://127.0.0.1:3000', 'same-site'],
    ['out', 'POST', 'http://localhost:4444'],
    ['out', 'POST', 'null'],
    ['out', 'POST'],
    ['out', 'POST', undefined, 'none'],
    ['out', 'DELETE', undefined, 'same-origin'],
    ['out', 'POST', `${OWN}.evil.example`],
  ];
  expect(cases.map(([, ...given]) => [verdict(...given), ...given])).toEqual(cases);
});

it('a session is read from its own cookie, unless the cookie is duplicated', () => {
  expect(findSessionCookie('a=b; assay_session_4444=x.y', HOST)).toBe('x.y');
  expect(findSessionCookie('assay_session=x', 'assay.example')).toBe('x');
  expect(findSessionCookie('assay_session=planted; __Host-assay_session=x', 'assay.example')).toBe('x');
  for (const none of [
    undefined,
    '',
    'assay_session_4445=x',
    'xassay_session_4444=x',
    'assay_session_4444=x; assay_session_4444=y',
  ])
    expect([none, findSessionCookie(none, HOST)]).toEqual([none, undefined]);
});

it('a cookie is host-only, inaccessible to scripts, and secure if the page uses https', () => {
  expect(setCookie('x', { host: HOST, origin: OWN }, 60)).toBe(
    'assay_session_4444=x; Max-Age=60; Path=/; HttpOnly; SameSite=Strict',
  );
  expect(setCookie(undefined, { host: 'assay.example', origin: 'https://assay.example' }, 60)).toBe(
    '__Host-assay_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict; Secure',
  );
});
