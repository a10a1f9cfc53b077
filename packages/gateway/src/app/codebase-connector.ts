import { join } from 'node:path';
import { type FileWatcher, watchFile } from '@assay-mcp/kit/platform/watch-file';
import type { ConfigEnvironment } from '../adapters/config/load-config.ts';
import type * as Codebase from '../../../codebase/src/program.ts';
import type { Connectors, Link } from '../gateway/ports/link.ts';
import { openCodebase } from './companion.ts';
import { type CodebaseHome, confineCodebase } from './confine-codebase.ts';

interface CodebaseConnector {
  readonly connect: Connectors<'codebase'>['codebase'];
  readonly close: () => void;
}

interface CodebaseOptions extends CodebaseHome {
  readonly configEnvironment: ConfigEnvironment;
}

/**
 * Starts code search, in a sandbox where this machine can. A process shared by several clients keeps no working
 * directory: one client would change that of another. Its package is looked for at each start.
 */
export function createCodebaseConnector(
  { stdio }: Connectors<'stdio'>,
  { configEnvironment, ...where }: CodebaseOptions,
): CodebaseConnector {
  const told = new ToldFolders(where.home);
  return {
    connect: async (spec, entry, opening) => {
      const found = await openCodebase(configEnvironment);
      if (!found.ok) return found;
      const codebase = found.value;
      const args = [
        codebase.main,
        ...entry.args,
        '--config',
        where.configPath,
        '--called-as',
        'assay codebase',
      ];
      const transport = { ...entry, args };
      const folders = transport.roots === undefined ? await codebase.readToldRoots(where.home) : [];
      const confined = await confineCodebase(transport, { ...where, told: folders, codebase });
      const { command, env, cwd } = transport;
      const given = { kind: 'stdio', ...(confined ?? { command, args, env, cwd }) } as const;
      const isShared = opening.isShared === true;
      const more = isShared ? ['--stateless'] : [];
      const opened = await stdio(spec, { ...given, args: [...given.args, ...more] }, opening);
      // A process with a working directory goes on: without it, its client would search elsewhere unawares.
      if (opened.ok && confined !== undefined && transport.roots === undefined && isShared) {
        const whenIdle = followCalls(opened.value);
        await told.follow(codebase, spec.name, {
          folders,
          restart: () => whenIdle(() => opening.events.ended({ code: 'SERVER_RESTARTED' })),
        });
      }
      return opened;
    },
    close: () => told.close(),
  };
}

/** Counts the tool calls that a link is answering. Returns a function that acts as soon as there are none. */
function followCalls(link: Link): (action: () => void) => void {
  const send = link.send.bind(link);
  let calls = 0;
  let waiting: (() => void) | undefined;
  const end = (): void => {
    calls -= 1;
    if (calls === 0) waiting?.();
  };
  link.send = (ask) => {
    const answer = send(ask);
    if (ask.tool === undefined) return answer;
    calls += 1;
    void answer.then(end, end);
    return answer;
  };
  return (action) => {
    if (calls === 0) action();
    else waiting = action;
  };
}

type ToldReader = Pick<typeof Codebase, 'TOLD_FILE' | 'readToldRoots'>;

interface Follower {
  readonly folders: readonly string[];
  /** Restarts it once it answers no call. */
  readonly restart: () => void;
}

/** Restarts code search when a terminal was told of another folder: its sandbox shows those of its start. */
class ToldFolders {
  readonly #home: string;
  readonly #followers = new Map<string, Follower>();
  #watching: FileWatcher | undefined;

  constructor(home: string) {
    this.#home = home;
  }

  async follow(codebase: ToldReader, server: string, follower: Follower): Promise<void> {
    this.#followers.set(server, follower);
    this.#watching ??= watchFile(join(this.#home, codebase.TOLD_FILE), () => void this.#look(codebase));
    // The list may have changed before it was watched.
    await this.#look(codebase);
  }

  close(): void {
    this.#watching?.close();
  }

  async #look({ readToldRoots }: ToldReader): Promise<void> {
    const folders = JSON.stringify(await readToldRoots(this.#home));
    for (const [server, follower] of this.#followers) {
      if (JSON.stringify(follower.folders) === folders) continue;
      this.#followers.delete(server);
      follower.restart();
    }
  }
}
