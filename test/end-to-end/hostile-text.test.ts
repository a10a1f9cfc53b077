import { describe, expect, it } from 'vitest';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { at, listAt, parseJson } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { fixture, tempDir, writeConfig } from '../support/paths.ts';

/** Beside line feeds. */
const OBEYED = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

describe('a server whose texts contain terminal control sequences', () => {
  const config = writeConfig({ hostile: fixture('hostile') });

  it('is shown by assay tools with these escaped, on one line each', async () => {
    const { code, stdout, stderr } = await runAssay(['tools', '--config', config, '--home', tempDir()]);
    expect(code).toBe(0);
    expect(stdout).toContain('Echoes.\\u001b[2J');
    expect(stderr).toContain('bad\\u001b[2J');
    expect(stdout + stderr).not.toMatch(OBEYED);
    expect((stdout + stderr).split('\n').filter((line) => line.startsWith('server trusted'))).toEqual([]);
  });

  it.each(['tools --json', 'lint', 'lint --json', 'doctor', 'doctor --json'])(
    'leaves none of them in the output of assay %s',
    async (command) => {
      const { stdout, stderr } = await runAssay([
        ...command.split(' '),
        ...['--config', config, '--home', tempDir()],
      ]);
      expect(stdout).not.toBe('');
      expect(stdout + stderr).not.toMatch(OBEYED);
    },
  );

  it('is unchanged in --json', async () => {
    const { stdout } = await runAssay(['tools', '--json', '--config', config, '--home', tempDir()]);
    const [tool = null] = listAt(parseJson(stdout), 'tools');
    expect(at(tool, 'description')).toContain('\u001b[2J\u001b]0;owned\u0007\u009b31m');
    expect(at(tool, 'description')).toContain('\u{e0041}\u200b\u00ad\u061c\ufe0f\u3164');
  });
});

describe('a client that sends a name of 5 MB', () => {
  it('gets a short error', async () => {
    const assay = await startGateway({ servers: { plain: fixture('plain') } });
    const session = await openSession(assay.url);
    const error = at(
      await session.ask('tools/call', { name: 'x'.repeat(5_000_000), arguments: {} }),
      'error',
    );
    expect(JSON.stringify(error).length).toBeLessThan(1_000);
    expect(at(error, 'data')).toEqual({ code: 'TOOL_UNKNOWN', name: `${'x'.repeat(200)}…` });
  });
});
