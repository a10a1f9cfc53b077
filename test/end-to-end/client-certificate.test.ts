import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { openFetchFor } from '../../packages/gateway/src/adapters/auth/authorization-server.ts';
import { openSecureContext } from '@assay-mcp/kit/platform/secure-context';
import { CERTIFICATE, CERTIFICATE_KEY } from '../fixtures/certificate.ts';
import {
  CLIENT_CERTIFICATE,
  CLIENT_KEY,
  CLIENT_KEY_PASSPHRASE,
  ENCRYPTED_CLIENT_KEY,
} from '../fixtures/client-certificate.ts';
import { serverIn } from '../support/assay.ts';
import { listen } from '../support/fake-issuer.ts';
import { startGateway } from '../support/gateway.ts';
import { startGuarded } from '../support/guarded-server.ts';
import { at } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { tempDir, writeConfig } from '../support/paths.ts';
import { LOCAL_ISSUER } from '../support/sign-in.ts';
import { RULES } from '../support/sign-in-place.ts';

const folder = tempDir();
function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
const ca = write('ca.pem', CERTIFICATE);
const certFile = write('client.pem', CLIENT_CERTIFICATE);
const keyFile = write('client.key', CLIENT_KEY);
const encryptedFile = write('encrypted.key', ENCRYPTED_CLIENT_KEY);
const otherKeyFile = write('other.key', CERTIFICATE_KEY);

const SERVER = { cert: CERTIFICATE, key: CERTIFICATE_KEY, ca: CERTIFICATE };

describe('a server that requires a client certificate', () => {
  it('is reached with the one of its entry, and the cause says what is wrong with another', async () => {
    const server = await startGuarded({
      issuer: { url: 'https://issuer.invalid', look: () => ({ scope: [], resource: undefined }) },
      secure: { ...SERVER, requestCert: true, rejectUnauthorized: true },
    });
    const common = { url: server.url, headers: { Authorization: 'Bearer x' }, ca };
    const entries = {
      right: {
        ...common,
        clientCertificate: { certFile, keyFile: encryptedFile, passphrase: CLIENT_KEY_PASSPHRASE },
      },
      none: common,
      'no-ca': { url: server.url, headers: common.headers, clientCertificate: { certFile, keyFile } },
      other: { ...common, clientCertificate: { certFile, keyFile: otherKeyFile } },
    };
    const config = writeConfig(entries, LOCAL_ISSUER);
    const assay = await startGateway({ config, home: tempDir() });
    const status = await assay.settled();
    expect(
      ['right', 'none', 'no-ca', 'other'].map((name) => at(serverIn(status, name), 'causeCode')),
    ).toEqual([
      undefined,
      // Node closes the connection; others also send an alert, or answer HTTP 400.
      'CONNECTION_CLOSED',
      'CERTIFICATE_INVALID',
      'CERTIFICATE_FILE_UNUSABLE',
    ]);
    expect(at(serverIn(status, 'other'), 'cause')).toBe(
      `its clientCertificate.keyFile is the file "${otherKeyFile}", which cannot be used: it is not the key of the certificate`,
    );
    const session = await openSession(assay.url);
    expect(await session.call('right_read')).toBe('done: read');
  });
});

describe('the requests of a sign-in', () => {
  it('show the certificate to the server and the issuer of the entry, and to nobody else', async () => {
    const seen: string[] = [];
    const listening = (name: string): Promise<string> =>
      listen(
        (request, response) => {
          const { socket } = request;
          const subject = socket instanceof TLSSocket ? socket.getPeerCertificate().subject : undefined;
          seen.push(`${name}: ${String(subject?.CN ?? 'none')}`);
          response.end('{}');
        },
        { ...SERVER, requestCert: true, rejectUnauthorized: false },
      );
    const [server, issuer, place, foreign] = await Promise.all(
      ['server', 'issuer', 'place', 'foreign'].map(listening),
    );
    const fetching = await openFetchFor(
      {
        url: new URL(`${server}/mcp`),
        chooser: 'config',
        auth: { issuer: issuer ?? '', tokenEndpoint: `${place}/token` },
        tls: { certFile, keyFile, caFile: ca },
      },
      RULES,
    );
    for (const origin of [server, issuer, place]) await fetching.fetch(`${origin}/x`);
    // Metadata is not to be trusted about that, if the certificate is not what authenticates Assay.
    fetching.trustEndpoints({
      ...{ issuer: issuer ?? '', authorization_endpoint: `${foreign}/a`, token_endpoint: `${foreign}/t` },
      response_types_supported: ['code'],
    });
    // The authority of the entry counts there no more than its certificate.
    await expect(fetching.fetch(`${foreign}/x`)).rejects.toThrow('could not be reached');
    await fetching.close();
    expect(seen).toEqual(['server: assay-client', 'issuer: assay-client', 'place: assay-client']);
  });
});

describe('the files of certificates', () => {
  it.each([
    ['keyFile', { certFile, keyFile: encryptedFile }, 'it is encrypted, and there is no "passphrase"'],
    [
      'keyFile',
      { certFile, keyFile: encryptedFile, passphrase: 'x' },
      'the "passphrase" does not decrypt its key',
    ],
    ['keyFile', { certFile, keyFile: certFile }, 'it is not a private key in PEM format'],
    ['keyFile', { certFile, keyFile: otherKeyFile }, 'it is not the key of the certificate'],
    ['certFile', { certFile: keyFile, keyFile }, 'it does not hold certificates in PEM format'],
    ['caFile', { caFile: keyFile }, 'it does not hold certificates in PEM format'],
    ['caFile', { caFile: folder }, 'it is a folder'],
    ['caFile', { caFile: join(folder, 'none') }, 'there is no such file, or it may not be read'],
  ] as const)('are refused with the wrong one: %s of %j', async (file, files, reason) => {
    const opened = await openSecureContext(files);
    expect(!opened.ok && opened.error).toEqual({ file, path: files[file as never], reason });
  });
});
