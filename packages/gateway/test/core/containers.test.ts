import { describe, expect, it } from 'vitest';
import { getStopTimeoutMs, labelContainer } from '../../src/core/containers.ts';
import type { ServerSpec } from '../../src/core/server-spec.ts';

describe('the container that a command starts', () => {
  it.each([
    ['docker', ['run', '-i', '--rm', 'image'], 1],
    ['/usr/bin/podman', ['run', 'image'], 1],
    ['C:\\Program Files\\Docker\\docker.exe', ['run', 'image'], 1],
    ['nerdctl', ['-n', 'k8s.io', 'run', 'image'], 3],
    ['docker', ['--context', 'far', '-D', '--log-level=info', 'run', 'image'], 5],
    ['docker', ['container', 'run', 'image'], 2],
  ])('is labelled: %s %j', (command, args, afterRun) => {
    const labelled = labelContainer({ command, args }, 'x1');
    const expected = [...args.slice(0, afterRun), '--label', 'assay.instance=x1', ...args.slice(afterRun)];
    expect(labelled?.args).toEqual(expected);
  });

  it('is listed and removed at the daemon that started it', () => {
    expect(
      labelContainer({ command: 'docker', args: ['--context', 'far', 'container', 'run', 'i'] }, 'x1'),
    ).toMatchObject({
      listArgs: ['--context', 'far', 'ps', '-aq', '--filter', 'label=assay.instance=x1'],
      removeArgs: ['--context', 'far', 'rm', '-f'],
    });
  });

  it.each([
    ['sh', ['-c', 'docker run image']],
    ['dockerize', ['run', 'image']],
    ['docker', ['exec', '-i', 'name', 'run']],
    ['docker', ['compose', 'run', 'service']],
    ['docker', ['--unknown', 'x', 'run', 'image']],
    ['docker', ['mcp', 'gateway', 'run']],
    ['docker', ['--context']],
    ['npx', ['-y', 'docker', 'run']],
    ['docker', []],
  ])('is left alone where it is not certain: %s %j', (command, args) => {
    expect(labelContainer({ command, args }, 'x1')).toBeUndefined();
  });
});

describe('the time that a server has to stop', () => {
  const spec = (command: string, stopTimeoutMs?: number): ServerSpec => ({
    name: 'a',
    transport: { kind: 'stdio', command, args: [], env: {}, cwd: '/' },
    timeoutMs: 1,
    prefix: true,
    isolation: 'shared',
    stopTimeoutMs,
  });

  it('is that of its entry, else 10 s for a container runtime, else the default', () => {
    expect(['/bin/docker', 'podman', 'node'].map((command) => getStopTimeoutMs(spec(command)))).toEqual([
      10_000,
      10_000,
      undefined,
    ]);
    expect(getStopTimeoutMs(spec('docker', 6_000))).toBe(6_000);
    expect(getStopTimeoutMs(spec('node', 6_000))).toBe(6_000);
  });
});
