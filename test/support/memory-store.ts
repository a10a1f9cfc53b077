import type { AuditEvent } from '../../packages/gateway/src/core/audit-event.ts';
import type { Refusal } from '../../packages/gateway/src/core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Store, StorePart, StoredToken } from '../../packages/gateway/src/gateway/ports/store.ts';

/** The tokens of a store, in memory; it can be made unavailable, like a database. */
export class MemoryTokens implements Pick<Store, 'addToken' | 'tokens' | 'revokeToken' | 'onChange'> {
  #tokens: readonly StoredToken[] = [];
  readonly #listeners = new Set<(parts: readonly StorePart[]) => void>();
  /** Audit events of all writes. */
  readonly auditEvents: AuditEvent[] = [];
  isAvailable = true;

  get listeners(): number {
    return this.#listeners.size;
  }

  addToken(token: StoredToken, auditEvent?: AuditEvent): Promise<Result<undefined, Refusal>> {
    return this.#answer(() => {
      const isTaken = this.#tokens.some((one) => one.name === token.name && one.revokedMs === undefined);
      if (isTaken) return err({ code: 'TOKEN_EXISTS', name: token.name });
      this.#set([...this.#tokens, token]);
      if (auditEvent !== undefined) this.auditEvents.push(auditEvent);
      return ok(undefined);
    });
  }

  tokens(): Promise<Result<readonly StoredToken[], Refusal>> {
    return this.#answer(() => ok(this.#tokens));
  }

  revokeToken(
    idOrName: string,
    revokedMs: number,
    auditEvent?: Omit<AuditEvent, 'target'>,
  ): Promise<Result<StoredToken, Refusal>> {
    return this.#answer(() => {
      const found = this.#tokens.find(
        ({ id, name, revokedMs: at }) => at === undefined && (id === idOrName || name === idOrName),
      );
      if (found === undefined) return err({ code: 'TOKEN_UNKNOWN', name: idOrName });
      const revoked = { ...found, revokedMs };
      const target = { kind: 'token', id: found.id, name: found.name } as const;
      if (auditEvent !== undefined) this.auditEvents.push({ ...auditEvent, target });
      this.#set(this.#tokens.map((one) => (one === found ? revoked : one)));
      return ok(revoked);
    });
  }

  onChange(listener: (parts: readonly StorePart[]) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Announces changes even if no token changed. */
  announce(parts: readonly StorePart[]): void {
    for (const listener of this.#listeners) listener(parts);
  }

  #set(tokens: readonly StoredToken[]): void {
    this.#tokens = tokens;
    this.announce(['tokens']);
  }

  async #answer<T>(work: () => Result<T, Refusal>): Promise<Result<T, Refusal>> {
    return this.isAvailable ? work() : err({ code: 'STORE_UNAVAILABLE', reason: 'the test says so' });
  }
}
