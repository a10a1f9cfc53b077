import type { TokenPreference, TokenPreferenceChanges } from '../../api/token.ts';
import { isTokenPreference, TOKEN_PREFERENCES } from '../../core/policy/token-preferences.ts';
import type { SettingValue } from '../../core/record.ts';
import type { Refusal } from '../../core/refusal.ts';
import {
  findSettingFix,
  isStorable,
  resolveSettings,
  type SettingSources,
} from '../../core/resolve-settings.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { type Identity, LOCAL_USER } from '../../core/subject.ts';
import { getTokenState } from '../../core/token.ts';
import type { RecordReplica } from '../catalog/record-replica.ts';
import type { Store } from '../ports/store.ts';

/** A token that an operator named, or `local` for the local user. */
export interface NamedToken {
  readonly id: string;
  readonly name: string;
}

export interface TokenPreferencesOptions extends Pick<SettingSources, 'env' | 'file'> {
  readonly records: RecordReplica;
  readonly openStore: () => Promise<Result<Pick<Store, 'tokens'>, Refusal>>;
  readonly nowMs: () => number;
}

/** Preferences of tokens, over those of the instance. */
export class TokenPreferences {
  readonly #options: TokenPreferencesOptions;

  constructor(options: TokenPreferencesOptions) {
    this.#options = options;
  }

  /** A valid token, or `local`. TOKEN_UNKNOWN */
  async find(idOrName: string): Promise<Result<NamedToken, Refusal>> {
    const { subject } = LOCAL_USER;
    if (idOrName === subject) return ok({ id: subject, name: subject });
    const store = await this.#options.openStore();
    if (!store.ok) return store;
    const tokens = await store.value.tokens();
    if (!tokens.ok) return tokens;
    const nowMs = this.#options.nowMs();
    const valid = tokens.value.filter((token) => getTokenState(token, nowMs) === 'valid');
    const found = valid.find(({ id }) => id === idOrName) ?? valid.find(({ name }) => name === idOrName);
    return found === undefined
      ? err({ code: 'TOKEN_UNKNOWN', name: idOrName })
      : ok({ id: found.id, name: found.name });
  }

  /** The caller with a token of this name, for explaining decisions. */
  readonly identify = async (name: string): Promise<Identity> => {
    const found = name === LOCAL_USER.subject ? undefined : await this.find(name);
    const subject = { subject: name, scopes: [] };
    return found?.ok === true && found.value.name === name
      ? { ...subject, tokenId: found.value.id }
      : subject;
  };

  /** The preferences that apply to calls with a token, with the origin of each value. */
  async view(idOrName: string): Promise<Result<readonly TokenPreference[], Refusal>> {
    const token = await this.find(idOrName);
    if (!token.ok) return token;
    const read = await this.#options.records.readAgain();
    return read.ok ? this.#viewOf(token.value) : read;
  }

  /** Null resets one to the instance's value. SETTING_OVERRIDDEN if the environment or the config file sets it. */
  async change(
    idOrName: string,
    changes: TokenPreferenceChanges,
    by: string,
  ): Promise<Result<readonly TokenPreference[], Refusal>> {
    const token = await this.find(idOrName);
    if (!token.ok) return token;
    const { records, nowMs } = this.#options;
    for (const [key, value] of Object.entries(changes)) {
      const fix = isTokenPreference(key) ? findSettingFix(key, this.#options) : undefined;
      if (fix !== undefined && value !== null) return err({ code: 'SETTING_OVERRIDDEN', name: key, ...fix });
    }
    const { id, name } = token.value;
    const done = await records.change(() => {
      const before = records.get('token_preferences', id)?.preferences ?? {};
      const merged = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null);
      const after = Object.fromEntries(merged) as Readonly<Record<string, SettingValue>>; // null was left out
      if (JSON.stringify(after) === JSON.stringify(before)) return ok({ value: undefined, changes: [] });
      const body = merged.length === 0 ? undefined : { preferences: after };
      const target = { kind: 'token', id, name } as const;
      return ok({
        value: undefined,
        changes: [{ kind: 'token_preferences', id, body }],
        audit: [{ atMs: nowMs(), subject: by, action: 'token.preferences', target, before, after }],
      });
    });
    return done.ok ? this.#viewOf(token.value) : done;
  }

  #viewOf({ id }: NamedToken): Result<readonly TokenPreference[], Refusal> {
    const { records, env, file } = this.#options;
    const own = records.get('token_preferences', id)?.preferences ?? {};
    const stored = [...records.settings(), ...Object.entries(own)];
    const fitting = new Map(stored.filter(([key, value]) => isStorable(key, value)));
    const resolved = resolveSettings({ env, file, stored: fitting });
    if (!resolved.ok) return resolved;
    const { settings, origins } = resolved.value;
    return ok(
      TOKEN_PREFERENCES.map((key) => {
        const isOwn = origins[key] === 'store' && Object.hasOwn(own, key) && isStorable(key, own[key]);
        return { key, value: settings[key], origin: isOwn ? 'token' : origins[key] };
      }),
    );
  }
}
