import { describe, expect, it } from 'vitest';
import { ok } from '../../../src/core/result.ts';
import { withoutTool, type ToolsetTool } from '../../../src/core/toolset.ts';
import { wholeServer } from '../../../src/core/whole-server.ts';
import { saveImported } from '../../../src/gateway/services/toolsets/imported-toolset.ts';
import { Toolsets } from '../../../src/gateway/services/toolsets/toolsets.ts';
import { memoryCache, MemoryRecords, replicaOf } from '../../support/memory-records.ts';

function opened(): Toolsets {
  return new Toolsets({ records: replicaOf(new MemoryRecords(), memoryCache()), nowMs: () => 7 });
}

function members(given: Readonly<Record<string, readonly string[]>>): Map<string, readonly ToolsetTool[]> {
  const tools = (server: string, names: readonly string[]): readonly ToolsetTool[] => [
    wholeServer(server, names),
  ];
  return new Map(Object.entries(given).map(([server, names]) => [server, tools(server, names)]));
}

const saved = (toolsets: Toolsets, name: string, given: Readonly<Record<string, readonly string[]>>) =>
  saveImported(toolsets, { name, members: members(given), by: 'local' });

function namesIn(toolsets: Toolsets, name: string): readonly string[] | undefined {
  return toolsets.find(name)?.tools.map(({ namespacedName }) => namespacedName);
}

describe("an import's toolset", () => {
  it('is saved, and equipped if none is equipped', async () => {
    const toolsets = opened();
    expect(await saved(toolsets, 'cursor', { git: ['log', 'diff'], web: ['get'] })).toEqual(
      ok({ name: 'cursor', change: 'created', added: 2, members: 2, equipped: 'cursor' }),
    );
    expect(namesIn(toolsets, 'cursor')).toEqual(['git.*', 'web.*']);
    expect(toolsets.equipped?.maker).toEqual({ by: 'operator', subject: 'local' });
  });

  it('leaves another equipped toolset equipped', async () => {
    const toolsets = opened();
    await saved(toolsets, 'cursor', { git: ['log'] });
    expect(await saved(toolsets, 'claude-code', { web: ['get'] })).toEqual(
      ok({ name: 'claude-code', change: 'created', added: 1, members: 1, equipped: 'cursor' }),
    );
  });

  it('gains new servers on the next import, but no tool that the operator removed', async () => {
    const toolsets = opened();
    await saved(toolsets, 'cursor', { git: ['log', 'diff'] });
    await toolsets.change(
      'cursor',
      (toolset) => {
        const after = withoutTool(toolset, 'git.diff');
        return after.ok ? ok({ toolset: after.value, value: undefined }) : after;
      },
      'local',
    );
    await toolsets.equip(undefined, 'local');
    expect(await saved(toolsets, 'cursor', { git: ['log', 'diff'], web: ['get'] })).toEqual(
      ok({ name: 'cursor', change: 'extended', added: 1, members: 2, equipped: 'cursor' }),
    );
    expect(toolsets.find('cursor')?.tools[0]).toMatchObject({ namespacedName: 'git.*', except: ['diff'] });
    expect(await saved(toolsets, 'cursor', { git: ['log', 'diff'], web: ['get'] })).toMatchObject({
      value: { change: 'same', added: 0 },
    });
  });
});
