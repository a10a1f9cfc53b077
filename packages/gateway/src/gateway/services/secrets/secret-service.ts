import type { Secret, SecretInput, SecretList } from '../../../api/secret.ts';
import type { AuditEvent } from '../../../core/audit-event.ts';
import type { SealedSecret, SecretUse } from '../../../core/record.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { maskArgs } from '../../../core/secrets/masked-command.ts';
import { findSecretNameFault } from '../../../core/secrets/value-reference.ts';
import { computeOriginIdentity } from '../../../core/server-identity.ts';
import type { ServerSpec } from '../../../core/server-spec.ts';
import { getSourceKind } from '../../../core/sources/source-kinds.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';
import type { SecretSeal } from '../../ports/secrets.ts';

export interface SecretServiceOptions {
  readonly catalog: Pick<Catalog, 'servers'>;
  readonly records: RecordReplica;
  readonly secretSeal: SecretSeal;
  /** Masks these values everywhere from now on. */
  readonly learn: (values: readonly string[]) => void;
  readonly nowMs: () => number;
  /** Masks known secrets in a text. */
  readonly mask: (text: string) => string;
}

/** The secrets of this home, and the servers that may use them. No use case shows a value. */
export class SecretService {
  readonly #options: SecretServiceOptions;

  constructor(options: SecretServiceOptions) {
    this.#options = options;
  }

  /** Sorted by name. STORE_UNAVAILABLE */
  async list(): Promise<Result<SecretList, Refusal>> {
    const { records } = this.#options;
    const ready = await records.ready();
    if (!ready.ok) return ready;
    const names = this.#names;
    const wanted = this.#wanted;
    return ok({
      secrets: names.map((name) => this.#view(name)),
      missing: wanted.flatMap(({ name, spec }) =>
        names.includes(name) ? [] : [{ name, ...this.#describe(spec) }],
      ),
    });
  }

  /** Stores a value, or allows servers to use it. ARGUMENTS_INVALID, SECRET_UNKNOWN, SERVER_UNKNOWN, SERVER_CHANGED, KEY_UNUSABLE */
  async set(
    name: string,
    { value, servers = [], identities = {} }: SecretInput,
    subject: string,
  ): Promise<Result<Secret, Refusal>> {
    const { records, secretSeal, learn, nowMs, catalog } = this.#options;
    const fault = findSecretNameFault(name);
    if (fault !== undefined) return err({ code: 'ARGUMENTS_INVALID', field: 'name', reason: fault });
    if (value?.includes('\0') === true)
      return err({ code: 'ARGUMENTS_INVALID', field: 'value', reason: 'it contains a NUL character' });
    if (value !== undefined) learn([value]);
    const uses: SecretUse[] = [];
    for (const server of servers) {
      const spec = catalog.servers.find((one) => one.spec.name === server)?.spec;
      const known = catalog.servers.map((one) => one.spec.name);
      if (spec === undefined) return err({ code: 'SERVER_UNKNOWN', name: server, known });
      const use = this.#describe(spec);
      if ((identities[server] ?? use.identity) !== use.identity)
        return err({ code: 'SERVER_CHANGED', name: server, target: use.what });
      uses.push(use);
    }
    const sealed = value === undefined ? undefined : await secretSeal.seal(name, value);
    if (sealed?.ok === false) return sealed;
    const done = await records.change(() => {
      const former = records.get('secret', name);
      const content = sealed?.value ?? former;
      if (content === undefined) return err(this.#unknown(name));
      const kept = (former?.uses ?? []).filter(({ server }) => !servers.includes(server));
      const { keyId, sealed: bytes } = content;
      const savedMs = sealed === undefined ? (former?.savedMs ?? nowMs()) : nowMs();
      const body: SealedSecret = { keyId, sealed: bytes, savedMs, uses: [...kept, ...uses] };
      const action = sealed === undefined ? 'secret.allow' : 'secret.set';
      return ok({
        value: undefined,
        changes: [{ kind: 'secret', id: name, body }],
        audit: [this.#event({ subject, action, name, after: body })],
      });
    });
    return done.ok ? ok(this.#view(name)) : done;
  }

  /** SECRET_UNKNOWN */
  async remove(name: string, subject: string): Promise<Result<undefined, Refusal>> {
    const { records } = this.#options;
    return records.change(() => {
      if (records.get('secret', name) === undefined) return err(this.#unknown(name));
      return ok({
        value: undefined,
        changes: [{ kind: 'secret', id: name, body: undefined }],
        audit: [this.#event({ subject, action: 'secret.remove', name })],
      });
    });
  }

  get #names(): readonly string[] {
    return this.#options.records.ids('secret').toSorted();
  }

  /** The references of all entries. */
  get #wanted(): readonly { readonly name: string; readonly spec: ServerSpec }[] {
    return this.#options.catalog.servers.flatMap(({ spec }) =>
      listSecretNames(spec).map((name) => ({ name, spec })),
    );
  }

  #view(name: string): Secret {
    const { records, catalog } = this.#options;
    const { uses = [], savedMs = 0 } = records.get('secret', name) ?? {};
    const isCurrent = ({ server, identity }: SecretUse): boolean =>
      catalog.servers.some(({ spec }) => spec.name === server && computeOriginIdentity(spec) === identity);
    const allowed = new Set(uses.filter(isCurrent).map(({ server }) => server));
    return {
      name,
      savedAt: new Date(savedMs).toISOString(),
      uses: uses.map((use) => ({ server: use.server, what: use.what, isCurrent: isCurrent(use) })),
      refused: this.#wanted.flatMap((one) =>
        one.name === name && !allowed.has(one.spec.name) ? [this.#describe(one.spec)] : [],
      ),
    };
  }

  #describe(spec: ServerSpec): SecretUse {
    const what = describeServer(spec, this.#options.mask);
    return { server: spec.name, identity: computeOriginIdentity(spec), what };
  }

  #unknown(name: string): Refusal {
    return { code: 'SECRET_UNKNOWN', name, known: this.#names };
  }

  #event({
    subject,
    action,
    name,
    after,
  }: {
    readonly subject: string;
    readonly action: string;
    readonly name: string;
    readonly after?: SealedSecret;
  }): AuditEvent {
    const uses = after?.uses.map(({ server, what }) => ({ server, what }));
    const target = { kind: 'secret', id: name, name } as const;
    return { atMs: this.#options.nowMs(), subject, action, target, ...(uses && { after: { uses } }) };
  }
}

/** Names of the secrets that an entry refers to. */
export function listSecretNames({ references = [] }: ServerSpec): readonly string[] {
  const names = references.flatMap(({ parts }) =>
    parts.flatMap((part) => (typeof part !== 'string' && part.kind === 'secret' ? [part.name] : [])),
  );
  return [...new Set(names)];
}

/** Its command line, masked, or its origin: what gets the value. */
function describeServer({ transport }: ServerSpec, mask: (text: string) => string): string {
  const kind = getSourceKind(transport);
  const command = kind.command(transport);
  if (command !== undefined) return mask(maskArgs([command.command, ...command.args]).join(' '));
  return mask(kind.origin(transport).join(' '));
}
