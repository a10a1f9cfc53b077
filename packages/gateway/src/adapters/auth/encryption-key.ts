import { createHash, randomBytes } from 'node:crypto';
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

/** Encrypts stored sign-ins. It is never in the store. */
export interface EncryptionKey {
  /** Distinguishes it from other keys without revealing anything about it. */
  readonly id: string;
  readonly bytes: Buffer;
}

export interface KeyLocation {
  readonly home: string;
  /** ASSAY_ENCRYPTION_KEY; takes precedence over the file. */
  readonly given: string | undefined;
}

export const KEY_FILE = 'encryption.key';
const KEY_BYTES = 32;
const VARIABLE = 'ASSAY_ENCRYPTION_KEY';

/** Undefined if there is none yet. KEY_UNUSABLE if it is invalid. */
export async function readEncryptionKey(
  location: KeyLocation,
): Promise<Result<EncryptionKey | undefined, Refusal>> {
  if (location.given !== undefined) return keyOf(location.given, VARIABLE);
  const path = join(location.home, KEY_FILE);
  if (!isThere(path)) return ok(undefined);
  // Also revokes the access of other users.
  const guarded = await ensurePrivateFile(path);
  const text = guarded.ok ? await readText(path) : guarded;
  if (!text.ok) return unusable(JSON.stringify(path), text.error.reason);
  return keyOf(text.value, JSON.stringify(path));
}

/** Creates a key in the home if there is none. Concurrent processes get the same one. */
export async function ensureEncryptionKey(location: KeyLocation): Promise<Result<EncryptionKey, Refusal>> {
  const found = await readEncryptionKey(location);
  if (!found.ok) return found;
  if (found.value !== undefined) return ok(found.value);
  const path = join(location.home, KEY_FILE);
  const folder = await ensureFolder(location.home);
  const text = `${randomBytes(KEY_BYTES).toString('base64')}\n`;
  const made = folder.ok ? await createPrivateFile(path, text) : folder;
  if (!made.ok) return unusable(JSON.stringify(path), made.error.reason);
  const read = await readEncryptionKey(location);
  if (!read.ok) return read;
  return read.value === undefined
    ? unusable(JSON.stringify(path), 'it was taken away right after it was made')
    : ok(read.value);
}

/** 32 bytes in base64 or hexadecimal. A passphrase is rejected, since it could be guessed. */
function keyOf(text: string, origin: string): Result<EncryptionKey, Refusal> {
  const trimmed = text.trim();
  const encoding = /^[\da-f]{64}$/i.test(trimmed) ? 'hex' : 'base64';
  const bytes = Buffer.from(trimmed, encoding);
  if (bytes.length !== KEY_BYTES || !/^[\w+/=-]+$/.test(trimmed))
    return unusable(
      origin,
      'it must be 32 random bytes in base64 or hexadecimal; create them with `openssl rand -base64 32`',
    );
  const id = createHash('sha256').update('assay encryption key ').update(bytes).digest('hex').slice(0, 16);
  return ok({ id, bytes });
}

function unusable(origin: string, reason: string): Result<never, Refusal> {
  return err({ code: 'KEY_UNUSABLE', place: origin, reason });
}
