import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { adminClient, type AdminClient } from '../support/admin.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { parseJson, textAt } from '../support/json.ts';
import { installed, ROOT, tempDir, writeConfig } from '../support/paths.ts';

const GUIDE = readFileSync(join(ROOT, 'docs', 'ANNOTATIONS.md'), 'utf8');

interface Step {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  /** What the response must contain. Undefined: only that it is not a failure. */
  readonly answer: string | undefined;
}

/** Every request of the page in order, with the response shown below the last one of its block. */
function stepsOf(page: string): readonly Step[] {
  const blocks = [...page.matchAll(/```(sh|json)\n([^]*?)\n```/g)].map(([, kind = '', text = '']) => ({
    kind,
    text,
  }));
  return blocks.flatMap(({ kind, text }, place) => {
    if (kind !== 'sh') return [];
    const next = blocks[place + 1];
    const commands = text
      .replaceAll('\\\n', ' ')
      .split('\n')
      .filter((line) => line.startsWith('curl'));
    return commands.map((line, at) =>
      stepOf(line, at === commands.length - 1 && next?.kind === 'json' ? next.text : undefined),
    );
  });
}

function stepOf(line: string, answer: string | undefined): Step {
  const [, method = 'GET'] = / -X (\w+)/.exec(line) ?? [];
  const [, path = ''] = /\$ASSAY([^\s"]*)/.exec(line) ?? [];
  const [, body] = / -d '([^']*)'/.exec(line) ?? [];
  expect(line).toContain('Authorization: Bearer $TOKEN');
  return { method, path, body, answer };
}

async function run(admin: AdminClient, { method, path, body, answer }: Step): Promise<void> {
  const headers = body === undefined ? {} : { 'content-type': 'application/json' };
  const given = await admin.ask(method, path, { headers, ...(body !== undefined && { body }) });
  const what = `${method} ${path} ${body ?? ''}`;
  if (answer === undefined) expect([what, given.status < 300 ? 'done' : given.text]).toEqual([what, 'done']);
  else expect({ what, answer: given.json() }).toMatchObject({ what, answer: parseJson(answer) });
}

it('every command of docs/ANNOTATIONS.md prints what is shown below it', async () => {
  const home = tempDir();
  const servers = { files: installed('filesystem', [home]) };
  const assay = await startGateway({ servers, home });
  await assay.settled();
  const token = readFileSync(join(home, 'admin-token'), 'utf8').trim();
  const admin = adminClient(assay, token);
  const listed = (await admin.get('/tools?text=write_file')).json();
  const id = textAt(listed, 'tools', 0, 'id');
  const steps = stepsOf(GUIDE.replaceAll('$ID', id));
  expect(steps.length).toBeGreaterThan(12);
  for (const step of steps) await run(admin, step);
});

it('the assay commands that it mentions work', async () => {
  const options = [
    '--config',
    writeConfig({ files: installed('filesystem', [tempDir()]) }),
    '--home',
    tempDir(),
  ];
  const commands = [...GUIDE.matchAll(/^assay ((?:tools|lint)[^#\n]*)/gm)].map(([, args = '']) =>
    args.trim().split(' '),
  );
  expect(commands.length).toBe(3);
  for (const args of commands) {
    const { code, stderr } = await runAssay([...args, ...options]);
    expect([args, code], stderr).toEqual([args, 0]);
  }
});
