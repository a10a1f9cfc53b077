import { isDeepStrictEqual } from 'node:util';
import { computeIdentity } from '../../core/server-identity.ts';
import type { ReachRules } from '../../core/reach-rules.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ServerSpec } from '../../core/server-spec.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type { Authorizer, Credentials } from '../../gateway/ports/credentials.ts';
import type { Store } from '../../gateway/ports/store.ts';
import {
  EncryptedCredentials,
  findCredential,
  type OpenedCredential,
  type EncryptedCredentialsOptions,
} from './encrypted-credentials.ts';
import { pickPlace } from './credential-place.ts';
import { toServerUrl, type ServerUrl } from './server-url.ts';
import { HeldCredential } from './held-credential.ts';
import type { RememberedChallenge } from './remembered-challenge.ts';
import { ClientCredentialsAuthorizer } from './client-credentials-authorizer.ts';
import { hasOwnAuthorization, getSourceKind, type SignInTarget } from '../../core/sources/source-kinds.ts';
import { Listeners } from '../../core/listeners.ts';

export interface ServerCredentialsOptions extends Omit<EncryptedCredentialsOptions, 'store'> {
  /** Opened on demand, when someone has signed in or needs to. */
  readonly store: { readonly isOpen: boolean; readonly open: () => Promise<Result<Store, Refusal>> };
  /** Whether each subject signs in separately unless configured otherwise. */
  readonly isPersonal: boolean;
  readonly log: Log;
  readonly rules: ReachRules;
}

interface Held {
  spec: ServerSpec;
  asked: ServerUrl;
  readonly credential: HeldCredential;
}

/**
 * The sign-ins in use by this process, held in memory and kept in sync with the store. If no server ever asked for a
 * sign-in and nobody signed in, the store is not opened for it.
 */
export class ServerCredentials implements Credentials {
  readonly #options: ServerCredentialsOptions;
  readonly #held = new Map<string, Held>();
  /** By server. */
  readonly #clientCredentials = new Map<
    string,
    { readonly target: SignInTarget; readonly credential: ClientCredentialsAuthorizer }
  >();
  /** Servers, by name and identity, that are known to require a sign-in. */
  readonly #asking = new Set<string>();
  readonly #listeners = new Listeners<[server: string]>();
  #all: readonly OpenedCredential[] = [];
  #credentials: Promise<Result<EncryptedCredentials, Refusal>> | undefined;
  #unsubscribe: (() => void) | undefined;
  readonly #endKeys: () => void;
  #reading: Promise<void> = Promise.resolve();
  #isRead = false;
  #isClosed = false;

  constructor(options: ServerCredentialsOptions) {
    this.#options = options;
    if (options.store.isOpen) void this.#openCredentials();
    this.#endKeys = options.keys.onChange(() => {
      if (this.#isRead) void this.#read();
    });
  }

  async authorizer(spec: ServerSpec, subject: string): Promise<Authorizer | undefined> {
    const target = getSourceKind(spec.transport).signIn(spec.transport);
    if (target === undefined || hasOwnAuthorization(spec)) return undefined;
    if (target.auth?.grant === 'client_credentials') {
      const authorizer = this.#getClientCredentials(spec, target);
      await authorizer.freshen();
      return authorizer;
    }
    if (!this.#isRead && (await this.#mayHaveSome())) await this.#read();
    const held = this.#heldFor(spec, target, this.#isOwn(spec) ? subject : LOCAL_USER.subject);
    await held.freshen();
    return {
      subject: held.subject,
      header: () => held.header(),
      refused: (challenge, sent) => {
        this.#asking.add(serverKey(spec));
        return held.refused(challenge, sent);
      },
    };
  }

  isPersonal(spec: ServerSpec): boolean {
    return this.#isOwn(spec) && this.#asking.has(serverKey(spec));
  }

  onNews(listener: (server: string) => void): () => void {
    return this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endKeys();
    this.#listeners.clear();
    const all = [...this.#held.values(), ...this.#clientCredentials.values()];
    await Promise.all(all.map(({ credential }) => credential.settled()));
    await this.#credentials;
    this.#unsubscribe?.();
    await this.#reading;
  }

  #isOwn({ transport }: ServerSpec): boolean {
    const { grant, isPersonal } = getSourceKind(transport).signIn(transport)?.auth ?? {};
    return grant !== 'client_credentials' && (isPersonal ?? this.#options.isPersonal);
  }

  async #mayHaveSome(): Promise<boolean> {
    const { store, keys } = this.#options;
    if (store.isOpen || this.#credentials !== undefined) return true;
    const read = await keys.read();
    return !read.ok || read.value.length > 0;
  }

  #heldFor(spec: ServerSpec, target: SignInTarget, subject: string): HeldCredential {
    const key = JSON.stringify([serverKey(spec), subject]);
    const asked = toServerUrl(spec, target);
    const found = this.#held.get(key);
    if (found !== undefined) {
      const isMoved = !isDeepStrictEqual(pickPlace(found.asked.auth ?? {}), pickPlace(asked.auth ?? {}));
      found.spec = spec;
      found.asked = asked;
      found.credential.updateServerUrl(asked);
      if (isMoved) found.credential.adopt(findCredential(this.#all, spec, subject));
      return found.credential;
    }
    const credential = new HeldCredential({
      server: spec.name,
      asked,
      rules: this.#options.rules,
      subject,
      log: this.#options.log,
      credentials: () => this.#openCredentials(),
      read: () => this.#read(),
      saveChallenge: (challenge) => this.#saveChallenge(spec, subject, challenge),
    });
    credential.adopt(findCredential(this.#all, spec, subject));
    this.#held.set(key, { spec, asked, credential });
    return credential;
  }

  /** A changed entry starts anew. */
  #getClientCredentials(spec: ServerSpec, target: SignInTarget): ClientCredentialsAuthorizer {
    const known = this.#clientCredentials.get(spec.name);
    if (known !== undefined && isDeepStrictEqual(known.target, target)) return known.credential;
    const { rules, log, learn } = this.#options;
    const asked = toServerUrl(spec, target);
    const credential = new ClientCredentialsAuthorizer({ server: spec.name, asked, rules, log, learn });
    this.#clientCredentials.set(spec.name, { target, credential });
    return credential;
  }

  async #saveChallenge(spec: ServerSpec, subject: string, challenge: RememberedChallenge): Promise<boolean> {
    const credentials = await this.#openCredentials();
    const saved = credentials.ok
      ? await credentials.value.saveChallenge(spec, subject, challenge)
      : credentials;
    if (!saved.ok)
      this.#options.log.debug('a challenge could not be stored', {
        server: spec.name,
        code: saved.error.code,
      });
    return saved.ok;
  }

  #openCredentials(): Promise<Result<EncryptedCredentials, Refusal>> {
    return (this.#credentials ??= this.#open().then((credentials) => {
      // A failure is not cached: the next caller tries again.
      if (!credentials.ok) this.#credentials = undefined;
      return credentials;
    }));
  }

  async #open(): Promise<Result<EncryptedCredentials, Refusal>> {
    const { keys, learn } = this.#options;
    if (this.#isClosed) return err({ code: 'SHUTTING_DOWN' });
    const opened = await this.#options.store.open();
    if (!opened.ok) return opened;
    const store = opened.value;
    this.#unsubscribe = store.onChange((parts) => {
      if (parts.includes('credentials')) void this.#read();
    });
    return ok(new EncryptedCredentials({ store, keys, learn }));
  }

  /** Reads are serialized, so the latest result wins. */
  #read(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#readNow());
    return this.#reading;
  }

  async #readNow(): Promise<void> {
    const credentials = await this.#openCredentials();
    const all = credentials.ok ? await credentials.value.all() : credentials;
    if (!all.ok) {
      if (!this.#isClosed)
        this.#options.log.warn('sign-ins cannot be read now; those in memory remain valid', {
          code: all.error.code,
        });
      return;
    }
    this.#isRead = true;
    this.#all = all.value;
    for (const { stored } of all.value) this.#asking.add(JSON.stringify([stored.server, stored.identity]));
    for (const { spec, credential } of this.#held.values()) {
      const wasUsable = credential.isUsable();
      credential.adopt(findCredential(all.value, spec, credential.subject));
      if (!wasUsable && credential.isUsable()) this.#listeners.notify(spec.name);
    }
  }
}

/** Cached because it is on the path of calls and costs a hash. */
const KEYS = new WeakMap<ServerSpec, string>();

function serverKey(spec: ServerSpec): string {
  const known = KEYS.get(spec);
  if (known !== undefined) return known;
  const key = JSON.stringify([spec.name, computeIdentity(spec)]);
  KEYS.set(spec, key);
  return key;
}
