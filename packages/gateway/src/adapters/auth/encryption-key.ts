import { createHash, hkdfSync, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import {
  createPrivateFile,
  ensureFolder,
  ensurePrivateFile,
  isThere,
  readText,
} from '@assay-mcp/kit/platform/files';

/** Encrypts what the store must not reveal. It is never in the store. */
export interface EncryptionKey {
  /** Distinguishes it from other keys without revealing anything about it. */
  readonly id: string;
  readonly bytes: Buffer;
  /** Where it was read, for messages. */
  readonly place: string;
}

export const HOME_KEY_FILE = 'encryption.key';
const KEY_BYTES = 32;

/** The key in the home, whose file loses any access of other users. Undefined if there is none. KEY_UNUSABLE */
export async function readHomeKey(home: string): Promise<Result<EncryptionKey | undefined, Refusal>> {
  const path = join(home, HOME_KEY_FILE);
  if (!isThere(path)) return ok(undefined);
  const place = JSON.stringify(path);
  const guarded = await ensurePrivateFile(path);
  const text = guarded.ok ? await readText(path) : guarded;
  const key = text.ok ? parseKey(text.value, place) : err(text.error.reason);
  return key.ok ? key : err(toUnusable(place, key.error));
}

/** Creates a key in the home if there is none. Concurrent processes get the same one. */
export async function ensureHomeKey(home: string): Promise<Result<EncryptionKey, Refusal>> {
  const path = join(home, HOME_KEY_FILE);
  const place = JSON.stringify(path);
  const folder = await ensureFolder(home);
  const text = `${randomBytes(KEY_BYTES).toString('base64')}\n`;
  const made = folder.ok ? await createPrivateFile(path, text) : folder;
  if (!made.ok) return err(toUnusable(place, made.error.reason));
  const read = await readHomeKey(home);
  if (!read.ok) return read;
  return read.value === undefined
    ? err(toUnusable(place, 'it was taken away right after it was made'))
    : ok(read.value);
}

/**
 * Reads 32 bytes in base64 or hexadecimal. A passphrase is rejected, since it could be guessed. The error is the end of
 * a sentence.
 */
export function parseKey(text: string, place: string): Result<EncryptionKey, string> {
  const trimmed = text.trim();
  const encoding = /^[\da-f]{64}$/i.test(trimmed) ? 'hex' : 'base64';
  const bytes = Buffer.from(trimmed, encoding);
  if (bytes.length !== KEY_BYTES || !/^[\w+/=-]+$/.test(trimmed))
    return err(
      'it must be 32 random bytes in base64 or hexadecimal; create them with `openssl rand -base64 32`',
    );
  const id = createHash('sha256').update('assay encryption key ').update(bytes).digest('hex').slice(0, 16);
  return ok({ id, bytes, place });
}

/**
 * A key for one purpose (HKDF-SHA256, RFC 5869, with the purpose as info). What is sealed with it opens with the key of
 * no other purpose, and it reveals nothing about the encryption key.
 */
export function deriveKey({ bytes }: Pick<EncryptionKey, 'bytes'>, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', bytes, 'assay', `assay key 1 ${purpose}`, KEY_BYTES));
}

export function toUnusable(place: string, reason: string): Refusal {
  return { code: 'KEY_UNUSABLE', place, reason };
}
