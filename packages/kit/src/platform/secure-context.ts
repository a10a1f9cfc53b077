import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { sha256 } from '../digest.ts';
import { err, ok, type Result } from '../result.ts';
import type { TlsFiles } from '../tls-files.ts';
import { readTextWithin } from './bounded-file.ts';
import { getErrorCode } from './file-error.ts';

export type { SecureContext };

/** A file that cannot be used. `reason` ends a sentence, and holds nothing of the file. */
export interface TlsFileFault {
  readonly file: 'certFile' | 'keyFile' | 'caFile';
  readonly path: string;
  readonly reason: string;
}

const MAX_FILE_BYTES = 1024 * 1024;

/** Reads the files for TLS connections. They are read at each call, so that renewed certificates take effect. */
export async function openSecureContext(files: TlsFiles): Promise<Result<SecureContext, TlsFileFault>> {
  const texts: Partial<Record<TlsFileFault['file'], string>> = {};
  for (const file of ['certFile', 'keyFile', 'caFile'] as const) {
    const path = files[file];
    if (path === undefined) continue;
    const text = await readTextWithin(path, MAX_FILE_BYTES);
    if (!text.ok) return err({ file, path, reason: text.error });
    texts[file] = text.value;
  }
  const { passphrase } = files;
  const fault = findFault(texts, passphrase);
  if (fault !== undefined) return err({ ...fault, path: files[fault.file] ?? '' });
  const { certFile: cert, keyFile: key, caFile } = texts;
  const ca = caFile === undefined ? undefined : [...getCACertificates('default'), caFile];
  const digest = sha256(JSON.stringify([cert, key, passphrase, caFile]));
  const known = contexts.get(digest);
  if (known !== undefined) return ok(known);
  try {
    const context = createSecureContext({ cert, key, passphrase, ca });
    const [oldest] = contexts.size < MAX_CONTEXTS ? [] : contexts.keys();
    if (oldest !== undefined) contexts.delete(oldest);
    contexts.set(digest, context);
    return ok(context);
  } catch (error) {
    const reason = `OpenSSL refuses it (${getErrorCode(error)})`;
    return err({ file: 'certFile', path: files.certFile ?? files.caFile ?? '', reason });
  }
}

/** Contexts by the digest of their files. Building one with all authorities takes 20 ms and 1.5 MB. */
const contexts = new Map<string, SecureContext>();
const MAX_CONTEXTS = 16;

type Texts = Readonly<Partial<Record<TlsFileFault['file'], string>>>;

function findFault(
  { certFile, keyFile, caFile }: Texts,
  passphrase: string | undefined,
): Omit<TlsFileFault, 'path'> | undefined {
  if (caFile !== undefined) {
    const blocks = caFile.match(CERTIFICATE) ?? [];
    if (blocks.length === 0 || blocks.some((block) => parseCertificate(block) === undefined))
      return { file: 'caFile', reason: NOT_A_CERTIFICATE };
  }
  if (certFile === undefined || keyFile === undefined) return undefined;
  const [leaf = ''] = certFile.match(CERTIFICATE) ?? [];
  const certificate = parseCertificate(leaf);
  if (certificate === undefined) return { file: 'certFile', reason: NOT_A_CERTIFICATE };
  const key = readPrivateKey(keyFile, passphrase);
  if (passphrase === undefined && ENCRYPTED.test(keyFile))
    return { file: 'keyFile', reason: 'it is encrypted, and there is no "passphrase"' };
  if (!key.ok) return { file: 'keyFile', reason: key.error };
  return certificate.checkPrivateKey(key.value)
    ? undefined
    : { file: 'keyFile', reason: 'it is not the key of the certificate' };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;
const NOT_A_CERTIFICATE = 'it does not hold certificates in PEM format';

function parseCertificate(pem: string): X509Certificate | undefined {
  try {
    return new X509Certificate(pem);
  } catch {
    return undefined;
  }
}

/** A private key in PEM format. The error ends a sentence. */
export function readPrivateKey(pem: string, passphrase?: string): Result<KeyObject, string> {
  if (passphrase === undefined && ENCRYPTED.test(pem))
    return err('it is encrypted; store it without a passphrase');
  try {
    return ok(createPrivateKey({ key: pem, ...(passphrase !== undefined && { passphrase }) }));
  } catch (error) {
    return err(
      BAD_PASSPHRASE.test(getErrorCode(error))
        ? 'the "passphrase" does not decrypt its key'
        : 'it is not a private key in PEM format',
    );
  }
}

/** PKCS #8, and the older format of OpenSSL. */
const ENCRYPTED = /^(?:-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED)/m;
const BAD_PASSPHRASE = /DECRYPT|MAYBE_WRONG_PASSWORD/;
