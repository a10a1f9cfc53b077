import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Sealer, Sealing } from '../../gateway/ports/sealing.ts';
import { KeyRing, type KeyRingOptions } from './key-ring.ts';
import { seal, unseal } from './seal.ts';

/** AES-256-GCM with keys shared by all processes on a store, so that any of them opens what another sealed. */
export class KeySealer implements Sealer {
  readonly #keys: KeyRing;

  constructor(options: Pick<KeyRingOptions, 'derivedKeys' | 'openStore' | 'log'>) {
    this.#keys = new KeyRing({
      ...options,
      purpose: 'request-state',
      warning: 'state that clients store for Assay can be decrypted by this process only',
    });
  }

  async seal(text: string, { about, expiresMs }: Sealing): Promise<string> {
    const key = await this.#keys.newest(Date.now());
    return `${key.id}.${seal(JSON.stringify([expiresMs, text]), about, key).toString('base64url')}`;
  }

  async open(
    sealed: string,
    { about, nowMs }: { readonly about: string; readonly nowMs: number },
  ): Promise<Result<string, Refusal>> {
    const at = sealed.indexOf('.');
    const keyId = sealed.slice(0, Math.max(at, 0));
    const key = await this.#keys.find(({ id }) => id === keyId, nowMs);
    const plain = key && unseal(Buffer.from(sealed.slice(at + 1), 'base64url'), about, key);
    if (plain === undefined)
      return err({ code: 'STATE_INVALID', reason: 'it was not given here, or not for this request' });
    const [expiresMs, text] = JSON.parse(plain) as readonly [number, string];
    return expiresMs > nowMs ? ok(text) : err({ code: 'STATE_INVALID', reason: 'it has expired' });
  }
}
