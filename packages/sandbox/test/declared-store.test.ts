import { mkdirSync, readFileSync, realpathSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolveCurrentPaths, resolveDeclared } from '../src/declared-paths.ts';
import { openDeclaredStore } from '../src/declared-store.ts';
import type { Command } from '../src/rights.ts';
import { tempDir } from '../../../test/support/paths.ts';

interface Place {
  readonly project: string;
  readonly victim: string;
  readonly file: string;
  readonly command: Command;
}

/** A project with the folders `data` and `kept`, whose server is started as `sh server.sh ./data ./absent`. */
function place(): Place {
  const folder = realpathSync(tempDir());
  const [project, victim] = [join(folder, 'project'), join(folder, 'victim')];
  for (const path of [join(project, 'data'), join(project, 'kept'), victim])
    mkdirSync(path, { recursive: true });
  for (const path of [join(project, 'server.sh'), join(victim, 'package.json'), join(victim, 'secret.sh')])
    writeFileSync(path, '');
  const roots = [join(project, 'kept')];
  const args = ['server.sh', './data', './absent'];
  const command = { command: '/bin/sh', args, env: {}, cwd: project, isCwdGiven: true, roots };
  return { project, victim, file: join(folder, 'home', 'sandbox-paths.json'), command };
}

const rootsOf = async (file: string, command: Command): Promise<unknown> => {
  const found = await resolveCurrentPaths(command, openDeclaredStore(file).recall);
  return found.ok
    ? found.value.roots.map(({ path, from }) => (path === from ? from : { path, from }))
    : found;
};

describe('the paths that an entry declares', () => {
  it('stay what they were when the entry was first read, also for another process', async () => {
    const { project, victim, file, command } = place();
    const first = ['data', 'kept', '.'].map((name) => join(project, name));
    expect(await rootsOf(file, command)).toEqual(first);
    symlinkSync('../victim', join(project, 'absent'));
    expect(await rootsOf(file, command)).toEqual(first);
    expect(readFileSync(file, 'utf8')).not.toContain(victim);
    // An edited entry is another one.
    const edited = { ...command, args: [...command.args, '.'] };
    expect(await rootsOf(file, edited)).toContainEqual({ path: join(project, 'absent'), from: victim });
  });

  it.each(['data', 'kept'])('are refused if %s was replaced by a link', async (name) => {
    const { project, file, command } = place();
    await rootsOf(file, command);
    renameSync(join(project, name), join(project, 'away'));
    symlinkSync('../victim', join(project, name));
    expect(await rootsOf(file, command)).toEqual({
      ok: false,
      error: { reason: 'moved', path: join(project, name) },
    });
    const { renew } = openDeclaredStore(file);
    expect((await renew(command, await resolveDeclared(command))).ok).toBe(true);
    expect(await rootsOf(file, command)).toContainEqual({
      path: join(project, name),
      from: join(project, '..', 'victim'),
    });
  });

  it('do not include folders that disappeared, until they are back', async () => {
    const { project, file, command } = place();
    await rootsOf(file, command);
    renameSync(join(project, 'kept'), join(project, 'away'));
    expect(await rootsOf(file, command)).toEqual([join(project, 'data'), project]);
    renameSync(join(project, 'away'), join(project, 'kept'));
    expect(await rootsOf(file, command)).toContain(join(project, 'kept'));
  });

  it('include the project of a script only if it was there when the entry was first read', async () => {
    const { project, victim, file, command } = place();
    const readable = async (): Promise<string> => {
      const found = await resolveCurrentPaths(command, openDeclaredStore(file).recall);
      return JSON.stringify(found.ok && found.value.readable);
    };
    expect(await readable()).toContain(join(project, 'server.sh'));
    renameSync(join(project, 'server.sh'), join(project, 'former.sh'));
    symlinkSync('../victim/secret.sh', join(project, 'server.sh'));
    expect(await readable()).not.toContain(victim);
  });

  it('follow a program outside the roots to its new place', async () => {
    const { project, file } = place();
    const [programs, data] = [join(project, 'kept'), join(project, 'data')];
    for (const version of ['1', '2']) writeFileSync(join(programs, version), '#!/bin/sh\n', { mode: 0o755 });
    symlinkSync('1', join(programs, 'server'));
    const command = { command: join(programs, 'server'), args: [data], env: {}, cwd: '/' };
    await rootsOf(file, command);
    renameSync(join(programs, '1'), join(programs, 'former'));
    renameSync(join(programs, '2'), join(programs, '1'));
    const found = await resolveCurrentPaths(command, openDeclaredStore(file).recall);
    expect(JSON.stringify(found.ok && found.value.readable)).toContain(join(programs, '1'));
  });

  it('are unknown, so that nothing starts, if their file is damaged', async () => {
    const { file, command } = place();
    await rootsOf(file, command);
    writeFileSync(file, '{"version":1,"entries":{"x":{"roots":[{}]}}}');
    expect(await rootsOf(file, command)).toEqual({ ok: false, error: { reason: 'unreadable', path: file } });
    expect(readFileSync(file, 'utf8')).toContain('"x"');
  });

  it('are resolved once if several processes read the entry at the same time', async () => {
    const { file, command } = place();
    const many = Array.from({ length: 8 }, (_, n) => ({ ...command, args: [...command.args, String(n)] }));
    const stored = await Promise.all(many.map((one) => openDeclaredStore(file).recall(one)));
    expect(stored.map(({ ok }) => ok)).toEqual(many.map(() => true));
    const { entries } = JSON.parse(readFileSync(file, 'utf8')) as { readonly entries: object };
    expect(Object.keys(entries)).toHaveLength(8);
  });
});
