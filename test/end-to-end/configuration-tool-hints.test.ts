// Each hint of each Assay tool, compared with the tool's behavior.
import { describe, expect, it } from 'vitest';
import { listAt, textAt, type Json, type JsonObject } from '../support/json.ts';
import { fixture, openEventLog } from '../support/paths.ts';
import { equip, meet, MENU, overHttp, type Model } from '../support/toolsets.ts';

const REF = { namespacedName: 'plain.echo' };
const NOTES = [{ name: 'a-note', note: 'Read it.' }];

/** Arguments with which a tool does all that it can. */
const ARGUMENTS: Readonly<Record<string, JsonObject>> = {
  'build-toolset': { name: 'new-one', tools: [REF], autoEquip: true },
  'equip-toolset': { name: 'second' },
  'delete-toolset': { name: 'first', confirm: true },
  'add-tool-annotation': { toolRef: REF, notes: NOTES },
};

interface State {
  /** Toolsets with their tools, and how many notes they have. */
  readonly saved: readonly Json[];
  readonly exposed: readonly string[];
}

/** The observable state: everything that is stored, and what clients see. */
async function stateOf(model: Model, menu: Pick<Model, 'call'>): Promise<State> {
  const { data } = await menu.call('list-saved-toolsets');
  return { saved: listAt(data, 'toolsets'), exposed: await model.tools() };
}

const identity = (toolset: Json): string => textAt(toolset, 'name');

/** Toolsets, tools and notes that were there and are not any more. */
function lost(before: State, after: State): readonly string[] {
  return before.saved.flatMap((toolset) => {
    const now = after.saved.find((one) => identity(one) === identity(toolset));
    if (now === undefined) return [identity(toolset)];
    const kept = listAt(now, 'tools').map((tool) => textAt(tool, 'namespacedName'));
    return listAt(toolset, 'tools')
      .map((tool) => textAt(tool, 'namespacedName'))
      .filter((name) => !kept.includes(name));
  });
}

describe.each([...MENU, 'enter-configuration-mode'])('the hints of %s', (name) => {
  it('match its behavior', async () => {
    const eventLog = openEventLog();
    const plain = fixture('plain', [], { env: eventLog.env });
    const model = await overHttp({ servers: { plain } }, 'legacy');
    const menu = await meet({ url: `${model.url}/configuration` }, 'modern');
    await model.call('build-toolset', { name: 'second', tools: [REF] });
    await equip(model, 'first', ['plain.echo', 'plain.add']);
    if (name !== 'enter-configuration-mode') await model.call('enter-configuration-mode');
    const { annotations } = (await model.client.listTools()).tools.find((tool) => tool.name === name) ?? {};
    expect(annotations).toEqual({
      title: expect.any(String) as string,
      readOnlyHint: expect.any(Boolean) as boolean,
      destructiveHint: expect.any(Boolean) as boolean,
      idempotentHint: expect.any(Boolean) as boolean,
      openWorldHint: expect.any(Boolean) as boolean,
    });
    const before = await stateOf(model, menu);
    const asked = eventLog.read('message').length;
    const args = ARGUMENTS[name] ?? {};
    expect(await model.call(name, args)).toMatchObject({ isError: false });
    const after = await stateOf(model, menu);
    // Again, by the same client, which has listed its tools since or has not.
    await model.call(name, args);
    const again = await stateOf(model, menu);
    expect({
      readOnlyHint: JSON.stringify(after) === JSON.stringify(before),
      destructiveHint: lost(before, after).length > 0,
      idempotentHint: JSON.stringify(again) === JSON.stringify(after),
      openWorldHint: eventLog.read('message').length > asked,
    }).toEqual({ ...annotations, title: undefined });
  });
});
