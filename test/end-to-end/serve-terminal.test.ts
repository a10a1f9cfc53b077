import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTerminal, screenOf, tooWide } from '../hour/terminal.ts';
import { cleanEnv } from '../support/assay.ts';
import { until, untilLogged } from '../support/endings.ts';
import { fixture, MAIN, tempDir, writeConfig } from '../support/paths.ts';

/** Writes its argument into a file, in place of a browser. */
function fakeBrowser(): { readonly folder: string; readonly address: () => string | undefined } {
  const folder = tempDir();
  const path = join(folder, 'xdg-open');
  writeFileSync(
    path,
    `#!/bin/sh\nprintf %s "$1" > ${join(folder, 'new')}\nmv ${folder}/new ${folder}/opened\n`,
  );
  chmodSync(path, 0o700);
  const opened = join(folder, 'opened');
  return { folder, address: () => (existsSync(opened) ? readFileSync(opened, 'utf8') : undefined) };
}

const config = writeConfig({ plain: fixture('plain'), dead: { command: 'no-such-command-anywhere' } });

/** Runs `assay serve` at a terminal, and shows the state of the terminal after it. */
function serveAtTerminal(args = '', more: Readonly<Record<string, string>> = {}) {
  const home = tempDir();
  const { CI: _ci, SSH_CONNECTION: _ssh, ...env } = cleanEnv(more);
  const command = `${process.execPath} ${MAIN} serve --port 0 --home ${home} --config ${config} ${args}`;
  const line = `sh -c '${command}; echo "exit code $?"; stty -a'`;
  return { home, ...openTerminal(line, { cwd: home, env }) };
}

const USUAL = /\bisig icanon\b[^]*\becho\b/;

describe.runIf(process.platform === 'linux')('assay serve at a terminal', () => {
  it('shows eight lines at most, opens the pages signed in, helps, and stops with a clean prompt', async () => {
    const browser = fakeBrowser();
    const path = `${browser.folder}${delimiter}${process.env['PATH'] ?? ''}`;
    const { home, ...terminal } = serveAtTerminal('', { PATH: path, DISPLAY: ':0' });
    await terminal.until(/failed: dead \(assay status\)/);
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(terminal.output())?.[0] ?? '';
    const shown = screenOf(terminal.output().trimEnd());
    expect(shown.slice(1)).toEqual([
      `  endpoint  ${url}/mcp`,
      '  shows     the configuration tools, as no toolset is equipped',
      `  log       ${home}/serve.log (assay logs -f)`,
      'Press o to open the admin pages, h for help, q to stop.',
      expect.stringMatching(/^2 servers with \d+ tools; failed: dead \(assay status\)$/) as unknown,
    ]);
    expect(shown[0]).toMatch(/^Assay \d+\.\d+\.\d+ serves \S+mcp\.json$/);
    expect(tooWide(terminal.output())).toEqual([]);
    const log = join(home, 'serve.log');
    const stderr = (): string => (existsSync(log) ? readFileSync(log, 'utf8') : '');
    await untilLogged({ stderr }, 'no-such-command-anywhere');

    terminal.type('o');
    await terminal.until(/Opened http:\S+\/admin in your browser/);
    const link = await until('the browser was started', () => browser.address(), 10_000);
    expect(link).toMatch(new RegExp(`^${url}/admin/sign-in#code=`));
    expect(terminal.output()).not.toContain('#code=');

    // Pasted text and special keys are not answers.
    terminal.type('quit now\u001B[A');
    for (const [key, printed] of [
      ['h', / {2}q {2}stop; Ctrl\+C/],
      ['c', /Claude Desktop/],
    ] as const)
      // Keys that arrive together are ignored too.
      await until(
        `${key} prints ${String(printed)}`,
        () => {
          terminal.type(key);
          return printed.test(terminal.output()) ? true : undefined;
        },
        20_000,
      );

    terminal.type('\u0003');
    await terminal.until(/\nAssay has stopped\.\r?\nexit code 0/);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.output()).toMatch(USUAL);
    // The settings of the terminal, which follow, name the key.
    expect(terminal.output().split('exit code')[0]).not.toContain('^C');
  });

  it('stops at q, and shows the log with --verbose and the link where no browser can be seen', async () => {
    const terminal = serveAtTerminal('--verbose');
    await terminal.until(/failed: dead/);
    expect(terminal.output()).toContain('no-such-command-anywhere');
    terminal.type('o');
    await terminal.until(/signs in once:\s+http:\S+\/admin\/sign-in#code=/);
    terminal.type('q');
    await terminal.until(/Assay has stopped/);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.output()).toMatch(USUAL);
  });
});
