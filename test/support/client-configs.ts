import { tmpdir } from 'node:os';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runAssay } from './commands.ts';
import { endLater } from './endings.ts';
import { parseJson, type Json } from './json.ts';
import { tempDir } from './paths.ts';

/** A user with an empty home folder, as programs running there see it. */
export interface User {
  readonly home: string;
  readonly assayHome: string;
  /** A path in the home folder. */
  at(...path: readonly string[]): string;
  write(text: string, ...path: readonly string[]): string;
  read(...path: readonly string[]): string;
  json(...path: readonly string[]): Json;
  assay(...args: readonly string[]): ReturnType<typeof runAssay>;
}

export function newUser(more: Readonly<Record<string, string>> = {}): User {
  const home = tempDir();
  const at = (...path: readonly string[]): string => join(home, ...path);
  const read = (...path: readonly string[]): string => readFileSync(at(...path), 'utf8');
  const env = {
    HOME: home,
    // Keeps Node's compile cache out of the clients' folders.
    NODE_COMPILE_CACHE: join(tmpdir(), 'assay-test-compiled'),
    USERPROFILE: home,
    APPDATA: join(home, 'AppData', 'Roaming'),
    LOCALAPPDATA: join(home, 'AppData', 'Local'),
    XDG_CONFIG_HOME: join(home, '.config'),
    CLAUDE_CONFIG_DIR: '',
    ...more,
  };
  // A client that was started as its file says has started a gateway in the background.
  endLater(async () => {
    const names = existsSync(at('.assay')) ? readdirSync(at('.assay')) : [];
    if (names.some((name) => name.endsWith('.lock'))) await runAssay(['stop'], { env });
  });
  return {
    home,
    assayHome: join(home, '.assay'),
    at,
    read,
    json: (...path) => parseJson(read(...path)),
    write: (text, ...path) => {
      mkdirSync(dirname(at(...path)), { recursive: true });
      writeFileSync(at(...path), text);
      return at(...path);
    },
    assay: (...args) => runAssay(args, { env }),
  };
}
