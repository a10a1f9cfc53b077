import { expect, it } from 'vitest';
import { toolIdOf } from '../../src/core/hints/hint.ts';
import type { ToolWord } from '../../src/core/hints/tool-word.ts';
import { stateOf } from '../../src/gateway/services/bundles/bundle-state.ts';
import type { EntrySeal } from '../../src/gateway/ports/gateways.ts';

const seal: EntrySeal = {
  seal: () => Promise.reject(new Error('nothing is sealed here')),
  open: () => Promise.reject(new Error('nothing is opened here')),
};

it('a tool of which nothing but its changing prose is known has no override in a bundle', async () => {
  const id = toolIdOf('s', 'i', 'act');
  const volatility = { connects: 2, isAccepted: false };
  const body: ToolWord = { id, server: 's', identity: 'i', name: 'act', overrides: {}, volatility };
  const titled: ToolWord = { ...body, id: 'other', name: 'look', title: 'Looks' };
  const words = [body, titled].map((word, at) => ({
    ...{ kind: 'tool' as const, id: word.id },
    ...{ body: word, revision: at + 1 },
  }));
  const toolsets = { names: [], changed: [], equipped: undefined, equippings: 0 };
  const snapshot = { words: { words, revision: 2 }, toolsets, settings: new Map() };
  expect((await stateOf(snapshot, seal)).bundle.overrides).toEqual([
    { server: 's', identity: 'i', name: 'look', overrides: {}, title: 'Looks' },
  ]);
});
