import type { Refusal } from '../../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { Toolset } from '../../../core/toolset.ts';
import type { SessionToolset } from '../../ports/session-toolsets.ts';
import type { SessionToolsets } from './session-toolsets.ts';
import type { Toolsets } from './toolsets.ts';

type NewToolset = Parameters<Toolsets['create']>[0];
type Objection = (toolset: Toolset) => Refusal | undefined;

/** What a client has equipped, and how its model changes that. `by` is the subject. */
export interface Equipping {
  readonly current: Toolset | undefined;
  /** Whether `current` is known, possibly from the cache. */
  readonly isRecalled: boolean;
  /** Whether `current` is known from the store. */
  readonly isKnown: boolean;
  /** STORE_UNAVAILABLE */
  ready(): Promise<Result<undefined, Refusal>>;
  /** Undefined unequips. TOOLSET_UNKNOWN */
  equip(name: string | undefined, by: string): Promise<Result<undefined, Refusal>>;
  /** With `equip`, equips it in the same transaction. TOOLSET_EXISTS, TOOLSETS_FULL */
  create(toolset: NewToolset, options: { by: string; equip: boolean }): Promise<Result<Toolset, Refusal>>;
  /** See `Toolsets.remove`. */
  remove(name: string, by: string, objection: Objection): Promise<Result<number, Refusal>>;
}

/** The toolset that is equipped for all clients. */
export class SharedEquipping implements Equipping {
  /** No client has one of its own. */
  readonly own: undefined;
  readonly #toolsets: Toolsets;
  readonly #onEquipped: () => void;

  /** `onEquipped`: called when a model has equipped or unequipped a toolset through this object. */
  constructor(toolsets: Toolsets, onEquipped: () => void = () => undefined) {
    this.#toolsets = toolsets;
    this.#onEquipped = onEquipped;
  }

  get current(): Toolset | undefined {
    return this.#toolsets.equipped;
  }

  get isRecalled(): boolean {
    return this.#toolsets.isRecalled;
  }

  get isKnown(): boolean {
    return this.#toolsets.isKnown;
  }

  ready(): Promise<Result<undefined, Refusal>> {
    return this.#toolsets.ready();
  }

  async equip(name: string | undefined, by: string): Promise<Result<undefined, Refusal>> {
    const done = await this.#toolsets.equip(name, { model: by });
    if (done.ok) this.#onEquipped();
    return done;
  }

  async create(
    toolset: NewToolset,
    { by, equip }: { by: string; equip: boolean },
  ): Promise<Result<Toolset, Refusal>> {
    const done = await this.#toolsets.create(toolset, { by: { model: by }, equip });
    if (done.ok && equip) this.#onEquipped();
    return done;
  }

  remove(name: string, by: string, objection: Objection): Promise<Result<number, Refusal>> {
    return this.#toolsets.remove(name, { model: by }, { objection, unlessEquippedBesides: '' });
  }
}

/** The toolset that one session has equipped; until it equips or unequips one, that of all clients. */
export class SessionEquipping implements Equipping {
  readonly #toolsets: Toolsets;
  readonly #sessions: SessionToolsets;
  readonly #client: string;

  constructor(toolsets: Toolsets, sessions: SessionToolsets, client: string) {
    this.#toolsets = toolsets;
    this.#sessions = sessions;
    this.#client = client;
  }

  /** Undefined if the session has neither equipped nor unequipped a toolset. */
  get own(): SessionToolset | undefined {
    return this.#sessions.of(this.#client);
  }

  get current(): Toolset | undefined {
    const { own } = this;
    if (own === undefined) return this.#toolsets.equipped;
    return own.toolset === undefined ? undefined : this.#toolsets.find(own.toolset);
  }

  get isRecalled(): boolean {
    return this.isKnown;
  }

  get isKnown(): boolean {
    return this.#toolsets.isKnown && this.#sessions.isKnown(this.#client);
  }

  async ready(): Promise<Result<undefined, Refusal>> {
    const [toolsets, own] = await Promise.all([this.#toolsets.ready(), this.#sessions.ready(this.#client)]);
    return toolsets.ok ? own : toolsets;
  }

  async equip(name: string | undefined, by: string): Promise<Result<undefined, Refusal>> {
    const session = this.#sessions.next(this.#client, by, name);
    const done = await this.#toolsets.equipSession(session);
    if (done.ok) this.#sessions.put(session);
    return done;
  }

  async create(
    toolset: NewToolset,
    { by, equip }: { by: string; equip: boolean },
  ): Promise<Result<Toolset, Refusal>> {
    if (!equip) return this.#toolsets.create(toolset, { by: { model: by } });
    const session = this.#sessions.next(this.#client, by, toolset.name);
    const done = await this.#toolsets.create(toolset, { by: { model: by }, session });
    if (done.ok) this.#sessions.put(session);
    return done;
  }

  async remove(name: string, by: string, objection: Objection): Promise<Result<number, Refusal>> {
    const equippedForAll = (toolset: Toolset): Refusal | undefined =>
      toolset.name === this.#toolsets.equipped?.name
        ? { code: 'TOOLSET_EQUIPPED', toolset: toolset.name, sessions: undefined }
        : undefined;
    return this.#toolsets.remove(
      name,
      { model: by },
      {
        objection: (toolset) => objection(toolset) ?? equippedForAll(toolset),
        unlessEquippedBesides: this.#client,
      },
    );
  }
}
