import type {
  Bundle,
  BundledEntry,
  Entry,
  EntryKind,
  LeftOutOfBundle,
  SaidOfTool,
} from '../../../core/bundle/bundle.ts';
import type { ServerWord } from '../../../core/hints/hint.ts';
import { isSilent, type ToolWord } from '../../../core/hints/tool-word.ts';
import { isStorable } from '../../../core/resolve-settings.ts';
import type { Snapshot } from '../../ports/bundles.ts';
import type { EntrySeal, GatewayWord } from '../../ports/gateways.ts';
import type { StoredWord, WordKind } from '../../ports/words.ts';
import { ENTRY_WORDS } from './entry-words.ts';

/** All that operators made, with all of its secrets. */
export interface BundleState {
  readonly bundle: Bundle;
  /** Entries that another key sealed; in the bundle they are empty. */
  readonly unread: readonly LeftOutOfBundle[];
  readonly snapshot: Snapshot;
}

export async function stateOf(snapshot: Snapshot, seal: EntrySeal): Promise<BundleState> {
  const { words, toolsets, settings } = snapshot;
  const unread: LeftOutOfBundle[] = [];
  const opened = async (kind: EntryKind): Promise<readonly BundledEntry[]> => {
    const entries: BundledEntry[] = [];
    for (const { body } of spoken(words.words, ENTRY_WORDS[kind].kind)) {
      const { name, createdMs, author, ...sealed } = body as GatewayWord; // written by the service of such records
      const entry = await seal.open(ENTRY_WORDS[kind].sealNameOf(name), sealed);
      if (!entry.ok) unread.push({ kind, name, reason: entry.error });
      entries.push({ name, entry: entry.ok ? entry.value : NOTHING, withheld: [], createdMs, author });
    }
    return entries;
  };
  const bundle: Bundle = {
    gateways: await opened('gateway'),
    tools: await opened('tool'),
    functions: await opened('function'),
    trust: spoken(words.words, 'server').map(({ body }) => body as ServerWord), // written by the service of such records
    overrides: spoken(words.words, 'tool').flatMap(({ body }) => saidIn(body as ToolWord)), // written by the service of such records
    toolsets: toolsets.changed.map(({ toolset }) => toolset),
    equipped: toolsets.equipped,
    preferences: new Map([...settings].filter(([key, value]) => isStorable(key, value))),
  };
  return { bundle, unread, snapshot };
}

const NOTHING: Entry = {};

function spoken(words: readonly StoredWord[], kind: WordKind): readonly StoredWord[] {
  return words.filter((word) => word.kind === kind && word.body !== undefined);
}

function saidIn({ id: _, drift: __, volatility: ___, ...said }: ToolWord): readonly SaidOfTool[] {
  return isSilent({ id: '', ...said }) ? [] : [said];
}
