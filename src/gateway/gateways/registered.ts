import type { ServerSpec } from '../../core/server-spec.ts';
import type { Catalog, Plan, Rejected } from '../catalog.ts';
import type { Log } from '../ports.ts';
import type { EntrySeal, GatewayWord, ReadEntry } from '../ports/gateways.ts';
import type { Words } from '../words/words.ts';

export interface RegisteredOptions {
  readonly words: Words;
  readonly readEntry: ReadEntry;
  readonly seal: EntrySeal;
  /** Told of each plan before anything is made of it: what of it is secret is masked from then on. */
  readonly learn: (plan: Plan) => void;
  readonly log: Log;
}

/** The servers that were registered while Assay ran, beside those of the config file. */
export class RegisteredGateways {
  readonly #options: RegisteredOptions;
  #catalog: Catalog | undefined;
  #reading: Promise<void> = Promise.resolve();

  constructor(options: RegisteredOptions) {
    this.#options = options;
    options.words.onChange((words) => {
      if (words.some(({ kind }) => kind === 'gateway')) void this.#read();
    });
  }

  /** What of a server is secret is masked from now on. */
  learn(spec: ServerSpec): void {
    this.#options.learn({ servers: [spec], rejected: [] });
  }

  /** The catalog has them too from now on. Resolves when it has those that are known. */
  follow(catalog: Catalog): Promise<void> {
    this.#catalog = catalog;
    return this.#read();
  }

  /** Resolves when the catalog has all that is known now. */
  settled(): Promise<void> {
    return this.#read();
  }

  /** Reads one after the other, so that what was read last is what counts. */
  #read(): Promise<void> {
    this.#reading = this.#reading
      .then(async () => {
        const plan = await this.#plan();
        this.#options.learn(plan);
        this.#catalog?.follow(plan, 'registered');
      })
      .catch((error: unknown) => {
        this.#options.log.error('registered gateways could not be read', { error: String(error) });
      });
    return this.#reading;
  }

  async #plan(): Promise<Plan> {
    const { words, readEntry, seal } = this.#options;
    const servers: ServerSpec[] = [];
    const rejected: Rejected[] = [];
    for (const { body } of words.all('gateway')) {
      const { name, ...sealed } = body as GatewayWord; // the desk of gateways wrote it
      const entry = await seal.open(name, sealed);
      const spec = entry.ok ? readEntry(name, entry.value) : undefined;
      if (spec?.ok === true) servers.push(spec.value);
      else rejected.push({ name, cause: entry.ok ? 'its entry cannot be used' : entry.error });
    }
    return { servers, rejected };
  }
}
