// The servers behind the Assay under test, and the config file that lists them.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Running } from '../processes.ts';
import { peerFile, type Place, ROOT } from '../targets.ts';

/** Less than Node's default, so that idle connections are closed when all has settled. */
const KEEP_ALIVE_MS = '5000';
/** How long a call waits for a server that restarts. */
const TIMEOUT_MS = 10_000;

export type Entry = Readonly<Record<string, unknown>>;

/** Servers that an edit may remove, with the label that each answers with. */
export const REMOVABLE = ['removable_a', 'removable_b'] as const;
export const REMOVABLE_WEB = 'removable_web';

export class TestServers {
  readonly configFile: string;
  readonly home: string;
  /** Text in the command line of every process behind this Assay. */
  readonly mark: string;
  /** The config's entries, in order; edits change them. */
  readonly entries: Map<string, Entry>;
  readonly #place: Place;
  #removableWeb: Running | undefined;
  #edits = 0;
  #hostile: Readonly<Record<string, Entry>> = {};

  private constructor(place: Place, entries: Map<string, Entry>) {
    this.#place = place;
    this.entries = entries;
    this.mark = markIn(place);
    this.home = join(place.scratch, 'home');
    const folder = join(place.scratch, 'config');
    mkdirSync(folder, { recursive: true });
    this.configFile = join(folder, 'mcp.json');
  }

  /** Adds servers that harm the gateway as much as they can; they are not among `names`. */
  async addHostile(): Promise<void> {
    const peer = await this.#place.peer('hostile-http.ts', []);
    this.#hostile = {
      hostile: {
        command: process.execPath,
        args: [peerFile('hostile-stdio.ts'), this.mark],
        timeoutMs: TIMEOUT_MS,
      },
      hostile_web: { url: peer.endpoint, timeoutMs: TIMEOUT_MS },
    };
    this.write(false);
  }

  static async open(place: Place): Promise<TestServers> {
    const peer = await place.peer('echo-http.ts', ['--keep-alive-ms', KEEP_ALIVE_MS]);
    const httpOf = async (mode: string): Promise<Entry> => {
      const running = place.node([join(ROOT, 'test', 'fixtures', 'http.ts'), `--mode=${mode}`]);
      const [url] = await running.saying(/http:\S+/);
      return { url, ...(mode === 'sse' ? { type: 'sse' } : {}), timeoutMs: TIMEOUT_MS };
    };
    const mark = markIn(place);
    const entries = new Map<string, Entry>([
      ['pipe', { command: process.execPath, args: [peerFile('echo-stdio.ts'), mark] }],
      ['web', { url: peer.endpoint }],
      ['plain', fixture('plain', mark)],
      ['modern', fixture('modern', mark)],
      ['talker', fixture('cancellable', mark)],
      ['old', await httpOf('legacy')],
      ['new', await httpOf('modern')],
      ['sse', await httpOf('sse')],
      ['crasher', fixture('crasher', mark)],
      ['victim', fixture('plain', mark, '--label=victim')],
    ]);
    const servers = new TestServers(place, entries);
    for (const removable of REMOVABLE) servers.label(removable, removable);
    await servers.moveRemovableWeb();
    servers.write(false);
    return servers;
  }

  get names(): readonly string[] {
    return [...this.entries.keys()];
  }

  label(removable: string, label: string): void {
    this.entries.set(removable, fixture('plain', this.mark, `--label=${label}`));
  }

  /** Restarts the server on another port; the old one is gone at once. */
  async moveRemovableWeb(): Promise<void> {
    this.#removableWeb?.end();
    const peer = await this.#place.peer('echo-http.ts', ['--keep-alive-ms', KEEP_ALIVE_MS]);
    this.#removableWeb = peer.running;
    this.entries.set(REMOVABLE_WEB, { url: peer.endpoint, timeoutMs: TIMEOUT_MS });
  }

  /** Writes the config in place, or to a new file that replaces it, as most editors do; `text` is a broken config. */
  write(isInPlace: boolean, text?: string): void {
    const written =
      text ??
      JSON.stringify({ mcpServers: { ...Object.fromEntries(this.entries), ...this.#hostile } }, null, 2);
    if (isInPlace) {
      writeFileSync(this.configFile, written);
      return;
    }
    this.#edits += 1;
    const beside = `${this.configFile}.${String(this.#edits)}`;
    writeFileSync(beside, written);
    renameSync(beside, this.configFile);
  }
}

function markIn({ scratch }: Place): string {
  return `--soak=${join(scratch, 'served')}`;
}

/** A test server; it ignores arguments that it does not know. */
export function fixture(name: string, mark: string, ...more: readonly string[]): Entry {
  const file = join(ROOT, 'test', 'fixtures', `${name}.ts`);
  return { command: process.execPath, args: [file, ...more, mark], timeoutMs: TIMEOUT_MS };
}
