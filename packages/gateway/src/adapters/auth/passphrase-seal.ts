import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto';
import type { SealedText } from '../../core/bundle/bundle.ts';
import type { PassphraseSeal } from '../../gateway/ports/bundles.ts';

/** Takes 32 MiB and a fifth of a second; guessing costs as much as OWASP recommends for stored passwords. */
const COST = { N: 2 ** 15, r: 8, p: 3 } as const;
const KEY_BYTES = 32;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ALGORITHM = 'aes-256-gcm';

export const passphraseSeal: PassphraseSeal = {
  async seal(text, passphrase) {
    const salt = randomBytes(SALT_BYTES);
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, await keyOf(passphrase, salt, COST), nonce);
    cipher.setAAD(aboutOf(COST));
    const data = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return {
      kdf: 'scrypt',
      ...COST,
      salt: salt.toString('base64'),
      nonce: nonce.toString('base64'),
      data: data.toString('base64'),
    };
  },
  async open(sealed, passphrase) {
    const key = await keyOf(passphrase, Buffer.from(sealed.salt, 'base64'), sealed);
    const data = Buffer.from(sealed.data, 'base64');
    if (data.length < TAG_BYTES) return undefined;
    const nonce = Buffer.from(sealed.nonce, 'base64');
    const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAAD(aboutOf(sealed));
    decipher.setAuthTag(data.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(data.subarray(0, -TAG_BYTES)), decipher.final()]).toString(
        'utf8',
      );
    } catch {
      return undefined;
    }
  },
};

type Cost = Pick<SealedText, 'N' | 'r' | 'p'>;

/** Normalized, since a passphrase typed on two machines may be composed differently (RFC 8265, section 4.2.1). */
function keyOf(passphrase: string, salt: Buffer, { N, r, p }: Cost): Promise<Buffer> {
  const maxmem = 2 * 128 * N * r;
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize('NFC'), salt, KEY_BYTES, { N, r, p, maxmem }, (error, key) => {
      if (error === null) resolve(key);
      else reject(error);
    });
  });
}

function aboutOf({ N, r, p }: Cost): Buffer {
  return Buffer.from(JSON.stringify(['assay bundle', 1, 'scrypt', N, r, p]));
}
