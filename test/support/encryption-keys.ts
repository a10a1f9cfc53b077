import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { DerivedKeys } from '../../packages/gateway/src/adapters/auth/derived-keys.ts';
import {
  EncryptionKeys,
  type EncryptionKeysOptions,
} from '../../packages/gateway/src/adapters/auth/encryption-keys.ts';
import { tempDir } from './paths.ts';

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** The encryption keys of a home; without variables unless given. */
export function keysIn(home: string, more: Partial<EncryptionKeysOptions> = {}): EncryptionKeys {
  const checks = { env: {}, home };
  return new EncryptionKeys({ home, file: undefined, given: undefined, checks, log: SILENT, ...more });
}

/** Keys derived from those of a new home or, if `isCommon` is false, kept in the store. */
export function derivedKeysOf(isCommon: boolean, keys: EncryptionKeys = keysIn(tempDir())): DerivedKeys {
  return new DerivedKeys({ keys, isCommon, log: SILENT });
}

export function newKey(): string {
  return randomBytes(32).toString('base64');
}

/** Writes a key file that only this user can read. */
export function writeKeyFile(path: string, ...keys: readonly string[]): void {
  writeFileSync(path, keys.map((key) => `${key}\n`).join(''), { mode: 0o600 });
}
