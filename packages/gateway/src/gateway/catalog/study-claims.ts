import type { Claim } from '../../core/hints/claim.ts';
import { findPackageStart, type PackageStart } from '../../core/hints/started-package.ts';
import { type StartedPackage, type Study, toStudyClaims } from '../../core/hints/study.ts';
import { Listeners } from '../../core/listeners.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { Definition } from '../ports/link.ts';
import { getDigest } from './definition-facts.ts';

export interface StudyOptions {
  /** Reads the verdicts. Called once, when a server is started from an npm package. */
  readonly load: () => Study | undefined;
  /** Reads the installed files of a package, within a limit of some seconds. */
  readonly findInstallation: (
    start: PackageStart,
    cwd: string,
    options: { readonly isStudied: (version: string) => boolean; readonly signal: AbortSignal },
  ) => Promise<StartedPackage['installation'] | undefined>;
  readonly nowMs: () => number;
}

/** One object, so that results can be cached by it. */
const NO_CLAIMS: readonly Claim[] = [];
/** Installed files are read again after this time, as they can change while a server runs. */
const FRESH_MS = 10 * 60_000;

/** What the study says about tools, found by what Assay starts. */
export class StudyClaims {
  readonly #options: StudyOptions;
  readonly #starts = new WeakMap<ServerSpec, Started | 'unknown'>();
  readonly #listeners = new Listeners();
  readonly #closing = new AbortController();
  #study: Study | 'absent' | undefined;
  /** One after the other: reading files is not urgent. */
  #reading: Promise<void> = Promise.resolve();

  constructor(options: StudyOptions) {
    this.#options = options;
  }

  /** Calls back after claims have changed. */
  onChange(listener: () => void): void {
    this.#listeners.add(listener);
  }

  /** Called for each list and decision; most servers are not in the study. */
  claimsOf(spec: ServerSpec, definition: Definition): readonly Claim[] {
    const started = this.#startedOf(spec);
    if (started === 'unknown' || definition.key === undefined) return NO_CLAIMS;
    this.#refresh(started);
    const { study, claims, found } = started;
    const known = claims.get(definition);
    if (known !== undefined) return known;
    const tool = { name: definition.key, digest: getDigest(definition) };
    const about = toStudyClaims(study, found, tool);
    const fresh = about.length === 0 ? NO_CLAIMS : about;
    claims.set(definition, fresh);
    return fresh;
  }

  /** Resolves when the installed files of a server are read, if the study may know them. */
  async settled(spec: ServerSpec): Promise<void> {
    const started = this.#startedOf(spec);
    if (started === 'unknown') return;
    this.#refresh(started);
    await this.#reading;
  }

  /** Reads no further file: a command ends when it is done. */
  close(): void {
    this.#closing.abort();
  }

  #startedOf(spec: ServerSpec): Started | 'unknown' {
    const known = this.#starts.get(spec);
    if (known !== undefined) return known;
    const started = this.#identify(spec) ?? 'unknown';
    this.#starts.set(spec, started);
    return started;
  }

  #identify({ transport }: ServerSpec): Started | undefined {
    const start = transport.kind === 'stdio' ? findPackageStart(transport) : undefined;
    if (start === undefined || transport.kind !== 'stdio') return undefined;
    const study = (this.#study ??= this.#options.load() ?? 'absent');
    if (study === 'absent' || !study.packages.has(start.name)) return undefined;
    const { cwd } = transport;
    return { study, start, cwd, found: { name: start.name }, claims: new WeakMap(), readMs: undefined };
  }

  #refresh(started: Started): void {
    const { nowMs, findInstallation } = this.#options;
    const now = nowMs();
    if (started.readMs !== undefined && now - started.readMs < FRESH_MS) return;
    started.readMs = now;
    const { study, start, cwd, found } = started;
    const versions = study.packages.get(start.name)?.map(({ version }) => version) ?? [];
    const { signal } = this.#closing;
    const isStudied = (version: string): boolean => versions.includes(version);
    this.#reading = this.#reading
      .then(() => (signal.aborted ? found.installation : findInstallation(start, cwd, { isStudied, signal })))
      .then((installation) => {
        if (installation?.digest === found.installation?.digest) return;
        started.found = { name: start.name, installation };
        started.claims = new WeakMap();
        this.#listeners.notify();
      })
      .catch(() => undefined);
  }
}

interface Started {
  readonly study: Study;
  readonly start: PackageStart;
  readonly cwd: string;
  found: StartedPackage;
  claims: WeakMap<Definition, readonly Claim[]>;
  /** When its files were last read. */
  readMs: number | undefined;
}
