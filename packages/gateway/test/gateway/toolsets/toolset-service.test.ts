import { describe, expect, it } from 'vitest';
import type { Refusal } from '../../../src/core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import { LOCAL_USER } from '../../../src/core/subject.ts';
import { Listing, type Entry } from '../../../src/gateway/catalog/listing.ts';
import { SharedEquipping } from '../../../src/gateway/services/toolsets/equipping.ts';
import type { NeededTools } from '../../../src/gateway/services/toolsets/find-tools.ts';
import { getRefId, ToolIndex } from '../../../src/gateway/services/toolsets/tool-index.ts';
import {
  ToolsetService,
  type ToolsetCaller,
} from '../../../src/gateway/services/toolsets/toolset-service.ts';
import { Toolsets } from '../../../src/gateway/services/toolsets/toolsets.ts';
import { memoryCache, MemoryRecords, replicaOf } from '../../../../../test/support/memory-records.ts';
import { definition, listed, tool } from '../listed-server.ts';

const git = listed('git');
const web = listed('web');

function entry(name: string, description?: string, server = git): Entry {
  const described = tool(name, description === undefined ? {} : { description });
  return { key: `${server.spec.name}_${name}`, name, server, definition: definition('tools', described) };
}

function opened(...entries: readonly Entry[]) {
  const toolsets = new Toolsets({ records: replicaOf(new MemoryRecords(), memoryCache()), nowMs: () => 7 });
  const listing = { entries };
  const asked: NeededTools[] = [];
  const service = new ToolsetService(toolsets, (needed) => {
    asked.push(needed);
    const index = new ToolIndex(new Listing({ kind: 'tools', entries: listing.entries }));
    return Promise.resolve(ok({ index, servers: [git, web], showsChanged: false }));
  });
  const list = (...now: readonly Entry[]): void => void (listing.entries = now);
  const model: ToolsetCaller = {
    subject: 'anna',
    model: { rights: 'own', equipping: new SharedEquipping(toolsets) },
  };
  return { toolsets, service, asked, list, model };
}

const named = (...names: readonly string[]) => names.map((namespacedName) => ({ namespacedName }));

function valueOf<T>(result: Result<T, Refusal>): T {
  if (!result.ok) throw new Error(result.error.code);
  return result.value;
}

describe('a toolset', () => {
  it('is refused to operators and models with the same code for the same fault', async () => {
    const { service, model } = opened(entry('log'));
    valueOf(await service.create({ name: 'dev', tools: named('git.log') }, LOCAL_USER));
    const long = 'x'.repeat(201);
    for (const caller of [LOCAL_USER, model]) {
      const code = async (name: string, tools: readonly string[], description?: string) => {
        const created = await service.create({ name, description, tools: named(...tools) }, caller);
        return created.ok ? undefined : created.error;
      };
      expect(await code('all', [])).toMatchObject({ code: 'ARGUMENTS_INVALID', field: 'name' });
      expect(await code('ops', [], long)).toMatchObject({ code: 'ARGUMENTS_INVALID', field: 'description' });
      expect(await code('dev', [])).toEqual({ code: 'TOOLSET_EXISTS', name: 'dev' });
      expect(await code('ops', ['git.log', 'git.lgo', 'git.nope'])).toMatchObject({
        ...{ code: 'REF_UNKNOWN', ref: 'git.lgo', nearest: 'git.log', inputPath: ['tools', 1] },
        others: [{ ref: 'git.nope' }],
      });
      expect(await code('ops', ['gti.*'])).toMatchObject({ code: 'SERVER_UNKNOWN', inputPath: ['tools', 0] });
    }
    expect(await service.names()).toEqual(ok(['dev']));
  });

  it('whose name is taken is refused before tools are looked up, which may start servers', async () => {
    const { service, asked } = opened(entry('log'));
    valueOf(await service.create({ name: 'dev', tools: [] }, LOCAL_USER));
    const again = await service.create({ name: 'dev', tools: named('git.log') }, LOCAL_USER);
    expect([again.ok, asked]).toEqual([false, []]);
    expect(await service.add('nope', named('git.log'), LOCAL_USER)).toMatchObject({
      error: { code: 'TOOLSET_UNKNOWN' },
    });
    expect(asked).toEqual([]);
  });

  it('of an operator is not changed or deleted by a model, which may by its own', async () => {
    const { service, model } = opened(entry('log'));
    valueOf(await service.create({ name: 'ops', tools: [] }, LOCAL_USER));
    const { view } = valueOf(await service.create({ name: 'mine', tools: named('git.log') }, model));
    expect(view.madeBy).toEqual({ by: 'model', subject: 'anna' });
    expect(await service.delete('ops', model)).toMatchObject({ error: { code: 'TOOLSET_PROTECTED' } });
    expect(await service.change('ops', { name: 'x1' }, model)).toMatchObject({
      error: { code: 'TOOLSET_PROTECTED' },
    });
    expect(await service.delete('mine', model)).toEqual(ok(0));
  });

  it('keeps tools that are given unchanged, also if no server lists them now', async () => {
    const { service, list } = opened(entry('log'), entry('push'));
    valueOf(await service.create({ name: 'dev', tools: named('git.log') }, LOCAL_USER));
    list(entry('push'));
    const changed = await service.change('dev', { tools: named('git.log', 'git.push') }, LOCAL_USER);
    expect(valueOf(changed).view.tools).toEqual(named('git.log', 'git.push'));
    expect(await service.change('dev', { tools: named('git.push', 'git.pull') }, LOCAL_USER)).toMatchObject({
      error: { code: 'REF_UNKNOWN', inputPath: ['tools', 1] },
    });
    const { view } = valueOf(await service.change('dev', { tools: [], description: '' }, LOCAL_USER));
    expect([view.tools, view.description]).toEqual([[], undefined]);
  });

  it('says which tools are no longer pinned, and which were never confirmed', async () => {
    const log = entry('log');
    const { service } = opened(log);
    const refId = getRefId(log);
    valueOf(await service.create({ name: 'dev', tools: [{ refId }] }, LOCAL_USER));
    const { released, added } = valueOf(await service.add('dev', named('git.log', 'web.*'), LOCAL_USER));
    expect([released, added]).toEqual([['git.log'], named('web.*')]);
    const { removed } = valueOf(await service.remove('dev', ['git.log', 'git.log', 'web.get'], LOCAL_USER));
    expect(removed).toEqual([
      { namespacedName: 'git.log', isUnconfirmed: false, notes: 0 },
      { namespacedName: 'web.get', isUnconfirmed: false, notes: 0 },
    ]);
  });

  it('has its changed tools accepted together with new ones, or new ones alone', async () => {
    const { service, list, toolsets } = opened(entry('log'));
    const [refId] = [getRefId(entry('log'))];
    valueOf(await service.create({ name: 'dev', tools: [{ refId }] }, LOCAL_USER));
    list(entry('log', 'Now described'));
    const alone = await service.accept('dev', { isNewOnly: true }, LOCAL_USER);
    expect(valueOf(alone)).toMatchObject({ accepted: [], new: [], view: { tools: [{ refId }] } });
    const all = valueOf(await service.accept('dev', {}, LOCAL_USER));
    expect(all.accepted).toEqual(['git.log']);
    expect(toolsets.find('dev')?.tools[0]?.held?.refId).not.toBe(refId);
    const absent = await service.accept('dev', { refs: named('git.nope') }, LOCAL_USER);
    expect(absent).toMatchObject({ error: { code: 'REF_UNKNOWN', inputPath: ['tools', 0] } });
  });
});

describe("an import's toolset", () => {
  const names = (toolsets: Toolsets, name: string): readonly string[] | undefined =>
    toolsets.find(name)?.tools.map(({ namespacedName }) => namespacedName);

  it('is saved, and equipped if none is equipped', async () => {
    const { toolsets, service } = opened();
    expect(await service.include('cursor', ['git', 'web'], LOCAL_USER)).toEqual(
      ok({ name: 'cursor', change: 'created', added: 2, members: 2, equipped: 'cursor' }),
    );
    expect(names(toolsets, 'cursor')).toEqual(['git.*', 'web.*']);
    expect(toolsets.equipped?.maker).toEqual({ by: 'operator', subject: 'local' });
  });

  it('leaves another equipped toolset equipped', async () => {
    const { service } = opened();
    await service.include('cursor', ['git'], LOCAL_USER);
    expect(await service.include('claude-code', ['web'], LOCAL_USER)).toEqual(
      ok({ name: 'claude-code', change: 'created', added: 1, members: 1, equipped: 'cursor' }),
    );
  });

  it('gains new servers on the next import, but no tool that the operator removed', async () => {
    const { toolsets, service } = opened();
    await service.include('cursor', ['git'], LOCAL_USER);
    valueOf(await service.remove('cursor', ['git.diff'], LOCAL_USER));
    await toolsets.equip(undefined, 'local');
    expect(await service.include('cursor', ['git', 'web'], LOCAL_USER)).toEqual(
      ok({ name: 'cursor', change: 'extended', added: 1, members: 2, equipped: 'cursor' }),
    );
    expect(toolsets.find('cursor')?.tools[0]).toMatchObject({ namespacedName: 'git.*', except: ['diff'] });
    expect(await service.include('cursor', ['git', 'web'], LOCAL_USER)).toMatchObject({
      value: { change: 'same', added: 0 },
    });
  });
});
