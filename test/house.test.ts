import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { offences } from './support/house.ts';

const ROOT = new URL('..', import.meta.url);

describe('the house', () => {
  it('is kept by every file of src/', () => {
    const paths = globSync('src/**/*.{ts,tsx}', { cwd: ROOT }).map((path) => path.replaceAll('\\', '/'));
    const files = new Map(paths.sort().map((path) => [path, readFileSync(new URL(path, ROOT), 'utf8')]));

    expect(files.size).toBeGreaterThan(0);
    expect(offences(files)).toEqual([]);
  });
});

describe('the keeper of the house', () => {
  it('lets every room use its own doors', () => {
    check(
      {
        'src/main.ts': `import { compose } from './compose.ts'; import { exit } from 'node:process'; exit(compose());`,
        'src/compose.ts': `import './adapters/store/store.ts'; export function compose(): number { return 0; }`,
        'src/core/digest.ts': `import { createHash } from 'node:crypto'; export const digest = createHash;`,
        'src/protocol/scan.ts': `import { Buffer, isUtf8 as isText } from 'node:buffer'; export const scan = isText;`,
        'src/gateway/call.ts': `import type { Scan } from '../protocol/scan.ts'; import { setTimeout } from 'node:timers/promises';`,
        'src/platform/pool.ts': `import { Pool } from 'undici'; import { readFile } from 'fs/promises';`,
        'src/adapters/store/store.ts': `import type { Store } from '../../gateway/ports.ts'; const all = 'select * from tools';`,
        'src/edges/mcp/door.ts': `import { createServer } from 'node:http'; import '../../gateway/call.ts';`,
        'src/edges/cli/print.ts': `console.log('done');`,
        'src/web/page.tsx': `import type { Tool } from '../edges/rest/contract.ts'; import { Table } from '@mantine/core';`,
      },
      [],
    );
  });

  it('shows an adapter that wants an edge, a use case or another adapter to the ports', () => {
    const may = 'adapters/store may import core, protocol, platform and gateway/ports';
    check(
      {
        'src/adapters/store/a.ts': `import { Door } from '../../edges/mcp/door.ts';`,
        'src/adapters/store/b.ts': `export type Call = import('../../gateway/call.ts').Call;`,
        'src/adapters/store/c.ts': `export const load = () => import('../config/load.ts');`,
      },
      [
        `src/adapters/store/a.ts imports edges/mcp/door: ${may}; reach edges/mcp through a port in gateway/ports.ts.`,
        `src/adapters/store/b.ts imports gateway/call: ${may}; reach gateway through a port in gateway/ports.ts.`,
        `src/adapters/store/c.ts imports adapters/config/load: ${may}; reach adapters/config through a port in gateway/ports.ts.`,
      ],
    );
  });

  it('keeps the ground floor pure, also from types', () => {
    const pure = 'through an argument: the ground floor is pure';
    check(
      {
        'src/core/a.ts': `import type { Port } from '../gateway/ports.ts';`,
        'src/core/b.ts': `import { readFileSync } from 'fs';`,
        'src/protocol/c.ts': `import type { Hint } from '../core/hints.ts';`,
        'src/protocol/d.ts': `import { Blob } from 'node:buffer';`,
      },
      [
        `src/core/a.ts imports gateway/ports: core may import only itself; reach gateway ${pure}.`,
        `src/core/b.ts imports node:fs: core may use nothing from outside; reach node:fs ${pure} (it is at home in platform and functions).`,
        `src/protocol/c.ts imports core/hints: protocol may import core/result, core/collected-bytes and core/json-object; reach core ${pure}.`,
        `src/protocol/d.ts imports Blob from node:buffer: protocol may take only Buffer and isUtf8.`,
      ],
    );
  });

  it('sends what the gateway and the edges need of the outside through a port', () => {
    const port = 'through a port in gateway/ports.ts, which src/compose.ts fills';
    const cliMay =
      'node:buffer, node:console, node:os, node:path, node:process, node:readline, node:tty, node:url, node:util, commander, @clack/prompts and ansis';
    check(
      {
        'src/gateway/a.ts': `export { spawn } from 'node:child_process'; export const limit = 1;`,
        'src/edges/rest/b.ts': `import { open } from '../../adapters/store/open.ts';`,
        'src/edges/cli/c.ts': `import _ from 'left-pad/deep';`,
      },
      [
        `src/gateway/a.ts imports node:child_process: gateway may use node:buffer and node:timers; reach node:child_process ${port} (it is at home in platform).`,
        `src/edges/rest/b.ts imports adapters/store/open: edges/rest may import core and gateway; reach adapters/store ${port}.`,
        `src/edges/cli/c.ts imports left-pad: edges/cli may use ${cliMay}; reach left-pad ${port} (no room has it yet).`,
      ],
    );
  });

  it('lets nobody import the roof, the tests, or a file that stands in no room', () => {
    check(
      {
        'src/platform/a.ts': `import '../compose.ts';`,
        'src/platform/b.ts': `import '../../test/support/house.ts';`,
        'src/adapters/c.ts': `export const stray = 1;`,
      },
      [
        'src/platform/a.ts imports compose: platform may import core/collected-bytes; reach the roof through an argument: platform knows Node alone.',
        'src/platform/b.ts imports test/support/house.ts: what ships imports only from src/.',
        'src/adapters/c.ts stands in no room: move it to one of core, protocol, gateway, platform, adapters/upstream, adapters/sources, adapters/store, adapters/config, adapters/auth, adapters/sandbox, adapters/telemetry, edges/mcp, edges/rest, edges/cli, verify, codebase, functions and web.',
      ],
    );
  });

  it('keeps SQL in the store and the console in the command line, and knows SQL from a sentence', () => {
    check(
      {
        'src/gateway/a.ts':
          "const one = `SELECT *\nFROM tools WHERE id = ${id}`;\nconst two = 'delete from tools';",
        'src/gateway/b.ts': `const text = 'Select one from the list.';`,
        'src/core/c.ts': `// console.log stays out\nglobalThis.console.error('no');`,
      },
      [
        'src/gateway/a.ts:1 holds SQL: only adapters/store speaks it; reach the store through a port in gateway/ports.ts.',
        'src/gateway/a.ts:3 holds SQL: only adapters/store speaks it; reach the store through a port in gateway/ports.ts.',
        'src/core/c.ts:2 uses console: only edges/cli may; return a value, or log through a port in gateway/ports.ts.',
      ],
    );
  });

  it('splits a file of 301 lines, unless its first line calls it a table of data', () => {
    check(
      {
        'src/core/full.ts': 'f();\n'.repeat(300),
        'src/core/table.ts': '// A table of data: HTTP status texts.\n' + 'f();\n'.repeat(300),
        'src/core/long.ts': 'f();\n'.repeat(301),
      },
      [
        'src/core/long.ts has 301 lines: split it by matter into files of at most 300, or open it with "// A table of data: …" if it is one.',
      ],
    );
  });

  it('wants no barrels, no names of kinds, and kebab-case', () => {
    const byMatter = 'names a kind; split by matter, and call the file what it exports.';
    check(
      {
        'src/core/all.ts': `export * from './hints.ts';`,
        'src/core/passed.ts': `import { hints } from './hints.ts'; export { hints };`,
        'src/core/toolNames.ts': '',
        'src/core/utils.ts': '',
        'src/platform/process-manager.ts': '',
      },
      [
        'src/core/all.ts only re-exports: remove it, and import each thing where it is written.',
        'src/core/passed.ts only re-exports: remove it, and import each thing where it is written.',
        'src/core/toolNames.ts: "toolNames" is not kebab-case.',
        `src/core/utils.ts: "utils" ${byMatter}`,
        `src/platform/process-manager.ts: "manager" ${byMatter}`,
      ],
    );
  });

  it('finds a cycle once, whichever file it starts from', () => {
    check(
      {
        'src/core/a.ts': `import type { C } from './c.ts';`,
        'src/core/b.ts': `import './a.ts';`,
        'src/core/c.ts': `import './b.ts';`,
        'src/core/d.ts': `import './a.ts'; import './c.ts';`,
      },
      [
        'src/core/a.ts → src/core/c.ts → src/core/b.ts → src/core/a.ts is a cycle of imports: move what they share below them.',
      ],
    );
  });
});

function check(files: Readonly<Record<string, string>>, expected: readonly string[]): void {
  expect(offences(new Map(Object.entries(files)))).toEqual(expected);
}
