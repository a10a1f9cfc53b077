import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Child } from '@assay-mcp/kit/platform/child';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';
import { launchServer } from '../../../src/adapters/upstream/launch-server.ts';
import type { ServerSpec } from '../../../src/core/server-spec.ts';
import type { Log } from '../../../src/gateway/ports/log.ts';
import { isAlive, killLater, until } from '../../../../../test/support/endings.ts';
import { ROOT, tempDir } from '../../../../../test/support/paths.ts';

/** A folder for the state of the fake runtime, and the program. */
function fakeRuntime(name = 'docker', script?: string): { readonly state: string; readonly command: string } {
  const state = tempDir();
  const command = join(tempDir(), name);
  const fixture = join(ROOT, 'test', 'fixtures', 'docker.ts');
  writeFileSync(command, script ?? `#!/bin/sh\nexec "${process.execPath}" "${fixture}" "$@"\n`);
  chmodSync(command, 0o755);
  return { state, command };
}

const HUNG = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log(process.pid)";
const ORDERLY = "process.stdin.resume().on('end', () => process.exit(0)); console.log(process.pid)";

interface Run {
  readonly child: Child;
  /** Process id of the container. */
  readonly pid: number;
  readonly logged: unknown[];
}

async function start(
  { state, command }: ReturnType<typeof fakeRuntime>,
  script: string,
  { stopTimeoutMs = 200, limitMs }: { readonly stopTimeoutMs?: number; readonly limitMs?: number } = {},
): Promise<Run> {
  const args = ['--context', 'far', 'run', '-i', '--rm', 'image', process.execPath, '-e', script];
  const transport = { kind: 'stdio', command, args, env: { DOCKER_STATE: state }, cwd: '/' } as const;
  const spec: ServerSpec = {
    name: 'a',
    transport,
    timeoutMs: 1,
    prefix: true,
    isolation: 'shared',
    stopTimeoutMs,
  };
  const logged: unknown[] = [];
  const keep = (text: string): void => void logged.push(text);
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep };
  const child = launchServer(spec, transport, { launcher: PLAIN_LAUNCHER, log, runtimeLimitMs: limitMs });
  killLater(child.pid);
  const pid = await new Promise<number>((resolve) => child.onOutput((chunk) => resolve(Number(chunk))));
  killLater(pid);
  return { child, pid, logged };
}

function commandsOf({ state }: { readonly state: string }): readonly (readonly string[])[] {
  const lines = readFileSync(join(state, 'commands.log'), 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as string[]);
}

function containersOf({ state }: { readonly state: string }): number {
  return readdirSync(state).filter((name) => name.endsWith('.json')).length;
}

describe('a server in a container', () => {
  it('that stays is removed by its own label, and no other', async () => {
    const runtime = fakeRuntime();
    const [hung, other] = [
      await start(runtime, HUNG),
      await start(runtime, ORDERLY, { stopTimeoutMs: 60_000 }),
    ];
    await hung.child.end();
    await until('the container is gone', () => (isAlive(hung.pid) ? undefined : true));
    expect(isAlive(other.pid)).toBe(true);
    const [run = [], otherRun = [], list = [], remove = []] = commandsOf(runtime);
    const label = run[run.indexOf('--label') + 1] ?? '';
    expect(label).toMatch(/^assay\.instance=[0-9a-f-]{36}$/);
    expect(otherRun).not.toContain(label);
    expect(list).toEqual(['--context', 'far', 'ps', '-aq', '--filter', `label=${label}`]);
    expect(remove).toEqual(['--context', 'far', 'rm', '-f', expect.stringMatching(/^[0-9a-f]{12}$/)]);
    expect(hung.logged).toEqual(['removed a container that outlived its server process']);
    await other.child.end();
    expect(containersOf(runtime)).toBe(0);
  });

  it('that ends in order is not looked for', async () => {
    const runtime = fakeRuntime('podman');
    const { child, logged } = await start(runtime, ORDERLY, { stopTimeoutMs: 60_000 });
    await child.end();
    expect(commandsOf(runtime).map((args) => args[2])).toEqual(['run']);
    expect(logged).toEqual([]);
  });

  it('whose client is killed from outside is removed', async () => {
    const runtime = fakeRuntime();
    const { child, pid } = await start(runtime, HUNG);
    process.kill(child.pid ?? 0, 'SIGKILL');
    expect(await child.ended).toEqual({ code: 'PROCESS_KILLED', signal: 'SIGKILL' });
    await child.end();
    await until('the container is gone', () => (isAlive(pid) ? undefined : true));
  });

  it('does not keep a stop waiting for a runtime that hangs', async () => {
    const runtime = fakeRuntime('docker', '#!/bin/sh\necho $$\nexec sleep 1000\n');
    const { child } = await start(runtime, HUNG, { limitMs: 50 });
    await child.end();
    expect(isAlive(child.pid ?? 0)).toBe(false);
  });

  it('has an id of hexadecimal digits: whatever else the runtime prints is not passed to it', async () => {
    const script = `#!/bin/sh
echo "$3" >> "$DOCKER_STATE/commands.log"
case $3 in
  run) echo $$; exec sleep 1000 ;;
  ps) echo "--all"; echo "../x"; echo "0123456789abXYZ" ;;
esac
`;
    const runtime = fakeRuntime('docker', script);
    const { child } = await start(runtime, HUNG);
    await child.end();
    expect(readFileSync(join(runtime.state, 'commands.log'), 'utf8')).toBe('run\nps\n');
  });
});
