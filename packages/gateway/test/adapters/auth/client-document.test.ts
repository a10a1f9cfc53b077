import { describe, expect, it } from 'vitest';
import { buildClientDocument, computeOwnClient } from '../../../src/core/own-client.ts';
import type { FakeIssuerOptions } from '../../../../../test/support/fake-issuer.ts';
import { send } from '../../../../../test/support/http.ts';
import {
  call,
  onlyCredential,
  openReplica,
  signInAt,
  start,
  type Place,
} from '../../../../../test/support/sign-in-place.ts';

const OWN = computeOwnClient('https://gw.example') ?? { url: '', redirectUri: '' };
const OTHER = 'https://clients.example/assay.json';

/** Reads the documents as an issuer would over https. */
const readDocument: FakeIssuerOptions['readDocument'] = async (clientId) =>
  clientId === OWN.url
    ? { ...buildClientDocument(OWN), redirect_uris: [OWN.redirectUri] }
    : { client_id: clientId, redirect_uris: [REDIRECT] };

const REDIRECT = 'http://127.0.0.1:18765/callback';

/** A user who pastes the address to which the browser was sent. */
function pasteAddress(): Pick<Parameters<typeof signInAt>[2] & object, 'onAddress' | 'pasted'> {
  const address = Promise.withResolvers<string>();
  return {
    onAddress: (text) => address.resolve(text),
    pasted: async () => (await send(await address.promise, { method: 'GET' })).headers.location,
  };
}

const listClientIds = ({ issuer }: Place): readonly (string | undefined)[] =>
  issuer.to('authorize').map(({ parameters }) => parameters['client_id']);

describe('a client metadata document', () => {
  it('of the entry is the client where the issuer supports it, before a registration', async () => {
    const place = await start({
      issuer: { readDocument },
      auth: () => ({ clientMetadataUrl: OTHER, redirectUri: REDIRECT }),
    });
    expect(await signInAt(place)).toBeUndefined();
    expect(listClientIds(place)).toEqual([OTHER]);
    expect(place.issuer.to('register')).toEqual([]);
    expect(place.issuer.to('token')[0]?.parameters).toMatchObject({ client_id: OTHER });
  });

  it('is not used where the issuer does not support it', async () => {
    const place = await start({ auth: () => ({ clientMetadataUrl: OTHER }) });
    expect(await signInAt(place)).toBeUndefined();
    expect(place.issuer.to('register')).toHaveLength(1);
    expect(listClientIds(place)).not.toContain(OTHER);
  });

  it('of the gateway is the client at a machine without a browser, and its sign-in is renewed', async () => {
    const place = await start({ issuer: { readDocument } });
    const person = { ownClient: OWN, opensBrowser: false, acceptsPasted: true, ...pasteAddress() };
    expect(await signInAt(place, undefined, person)).toBeUndefined();
    expect(place.issuer.to('authorize')[0]?.parameters).toMatchObject({
      client_id: OWN.url,
      redirect_uri: OWN.redirectUri,
    });
    expect(place.issuer.to('register')).toEqual([]);
    expect((await onlyCredential(place)).content.client).toEqual({ client_id: OWN.url });
    place.issuer.expireAccess();
    expect(await call(await openReplica(place), place, 'read')).toBe('200');
    expect(place.issuer.to('token').at(-1)?.parameters).toMatchObject({
      grant_type: 'refresh_token',
      client_id: OWN.url,
    });
  });

  it('of the gateway is used beside a browser only where the issuer registers no clients', async () => {
    const person = { ownClient: OWN, acceptsPasted: true };
    const open = await start({ issuer: { readDocument } });
    expect(await signInAt(open, undefined, person)).toBeUndefined();
    expect(open.issuer.to('register')).toHaveLength(1);
    const closed = await start({ issuer: { readDocument, registration: 'unlisted' } });
    expect(await signInAt(closed, undefined, { ...person, ...pasteAddress() })).toBeUndefined();
    expect(new Set(listClientIds(closed))).toEqual(new Set([OWN.url]));
  });

  it.each([
    ['the entry says so', { auth: () => ({ clientMetadataUrl: false as const }) }, true],
    ['the entry has another redirect address', { auth: () => ({ redirectUri: REDIRECT }) }, true],
    ['nobody can paste the answer', {}, false],
  ])('of the gateway is not used if %s', async (_, oddity, acceptsPasted) => {
    const place = await start({ issuer: { readDocument, registration: 'unlisted' }, ...oddity });
    expect(await signInAt(place, undefined, { ownClient: OWN, acceptsPasted })).toMatchObject({
      reason: expect.stringContaining('registers no clients'),
    });
  });
});
