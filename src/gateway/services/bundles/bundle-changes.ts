import { entryJson, saidJson } from '../../../core/bundle/bundle-json.ts';
import type { BundledEntry, EntryKind } from '../../../core/bundle/bundle.ts';
import type { BundleItem } from '../../../core/bundle/bundle-items.ts';
import type { Planned } from '../../../core/bundle/bundle-plan.ts';
import { withoutSecrets } from '../../../core/bundle/entry-secrets.ts';
import type { AuditEvent, AuditTarget } from '../../../core/audit-event.ts';
import { gatewayIdOf, serverIdOf, toolIdOf } from '../../../core/hints/hint.ts';
import type { ToolWord } from '../../../core/hints/tool-word.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { ok, type Result } from '../../../core/result.ts';
import { originIdentityOf } from '../../../core/server-identity.ts';
import { LOCAL_SOURCE } from '../../../core/server-spec.ts';
import type { Commit } from '../../ports/commit.ts';
import type { EntrySeal, GatewayWord } from '../../ports/gateways.ts';
import type { StoredWord, Word } from '../../ports/words.ts';
import { deedOfEquipping, deedOfSaving, type Doing } from '../toolsets/toolset-audit.ts';
import type { BundleState } from './bundle-state.ts';
import { ENTRY_WORDS } from './entry-words.ts';

export interface ChangesOptions {
  readonly state: BundleState;
  readonly seal: EntrySeal;
  readonly doing: Doing;
  /** The members of an entry that nobody is told. */
  readonly secretIn: (kind: EntryKind, entry: BundledEntry) => ReadonlySet<string>;
}

/** What the store is asked for, so that everything becomes as planned. KEY_UNUSABLE */
export async function changesOf(
  planned: readonly Planned[],
  options: ChangesOptions,
): Promise<Result<Commit, Refusal>> {
  const { snapshot } = options.state;
  const changing = planned.filter(({ action }) => action === 'create' || action === 'update');
  const stored = new Map(snapshot.words.words.map((word) => [wordKey(word), word]));
  const words: Word[] = [];
  for (const { item } of changing) {
    const word = await wordOf(item, stored, options.seal);
    if (!word.ok) return word;
    if (word.value === undefined) continue;
    words.push(word.value);
  }
  const revisions = new Map(
    snapshot.toolsets.changed.map(({ toolset, revision }) => [toolset.name, revision]),
  );
  const items = changing.map(({ item }) => item);
  const equipped = items.find((item) => item.kind === 'equipped');
  const toolsets = items.flatMap((item) => (item.kind === 'toolset' ? [item.value] : []));
  const settings = items.flatMap((item) => (item.kind === 'preference' ? [item.value] : []));
  return ok({
    changes: [
      ...words.map((word) => ({ kind: 'word', word }) as const),
      ...toolsets.map((toolset) => {
        const replaces = revisions.has(toolset.name) ? toolset.name : undefined;
        return { kind: 'toolset', toolset, replaces } as const;
      }),
      ...(equipped === undefined ? [] : [{ kind: 'equipped', name: equipped.value } as const]),
      ...settings.map(({ key, value }) => ({ kind: 'setting', key, value }) as const),
    ],
    expectedRevisions: [
      ...words.map((word) => {
        const revision = stored.get(wordKey(word))?.revision;
        return { kind: 'word', word: { kind: word.kind, id: word.id }, revision } as const;
      }),
      ...toolsets.map(({ name }) => ({ kind: 'toolset', name, revision: revisions.get(name) }) as const),
      ...(equipped === undefined
        ? []
        : [{ kind: 'equipped', equippings: snapshot.toolsets.equippings } as const]),
      ...settings.map(({ key }) => ({ kind: 'setting', key, value: snapshot.settings.get(key) }) as const),
    ],
    audit: changing.flatMap((one) => deedOf(one, options) ?? []),
  });
}

function wordKey({ kind, id }: Pick<Word, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}

type Stored = ReadonlyMap<string, StoredWord>;

/** Undefined: it is kept elsewhere. */
async function wordOf(
  item: BundleItem,
  stored: Stored,
  seal: EntrySeal,
): Promise<Result<Word | undefined, Refusal>> {
  switch (item.kind) {
    case 'gateway':
    case 'tool':
    case 'function': {
      const { name, entry, createdMs, author } = item.value;
      const { kind, idOf, sealNameOf } = ENTRY_WORDS[item.kind];
      const sealed = await seal.seal(sealNameOf(name), entry);
      if (!sealed.ok) return sealed;
      const body: GatewayWord = { name, ...sealed.value, createdMs, author };
      return ok({ kind, id: idOf(name), body });
    }
    case 'trust': {
      const { server, identity } = item.value;
      return ok({ kind: 'server', id: serverIdOf(server, identity), body: item.value });
    }
    case 'override': {
      const id = toolIdOf(item.value.server, item.value.identity, item.value.name);
      const former = stored.get(wordKey({ kind: 'tool', id }))?.body as ToolWord | undefined; // written by the service of such records
      // What Assay saw of the tool here is no matter of the bundle.
      const { drift, volatility } = former ?? {};
      const seen = { ...(drift !== undefined && { drift }), ...(volatility !== undefined && { volatility }) };
      const body: ToolWord = { id, ...item.value, ...seen };
      return ok({ kind: 'tool', id, body });
    }
    default:
      return ok(undefined);
  }
}

function deedOf({ item, former }: Planned, options: ChangesOptions): AuditEvent | undefined {
  const { doing, state } = options;
  const tell = (action: string, target: AuditTarget, shown: (one: BundleItem) => unknown): AuditEvent => ({
    atMs: doing.atMs,
    subject: doing.by,
    action,
    target,
    before: former && shown(former),
    after: shown(item),
  });
  const verb = former === undefined ? 'create' : 'update';
  const shownEntry = (one: BundleItem): unknown => shownItem(one, options);
  switch (item.kind) {
    case 'gateway':
      return tell(`gateway.${verb}`, gatewayTarget(item.name), shownEntry);
    case 'tool':
      return tell(`tool.${verb}`, toolTarget([LOCAL_SOURCE, LOCAL_IDENTITY, item.name]), shownEntry);
    case 'function':
      return tell('function.add', gatewayTarget(LOCAL_SOURCE), shownEntry);
    case 'trust':
      return tell('gateway.trust', gatewayTarget(item.name), ({ members }) => members);
    case 'override': {
      const { server, identity, name } = item.value;
      return tell('tool.update', toolTarget([server, identity, name]), shownEntry);
    }
    case 'toolset':
      return deedOfSaving(doing, former?.kind === 'toolset' ? former.value : undefined, item.value);
    case 'equipped':
      return deedOfEquipping(doing, state.bundle.equipped, item.value);
    case 'preference': {
      const { name } = item;
      return tell(
        'preference.update',
        { kind: 'preference', id: name, name },
        ({ members }) => members['value'],
      );
    }
  }
}

/** What people are told of it: nothing secret. */
function shownItem(item: BundleItem, { secretIn }: ChangesOptions): unknown {
  switch (item.kind) {
    case 'gateway':
    case 'tool':
    case 'function':
      return entryJson(withoutSecrets(item.kind, item.value, secretIn(item.kind, item.value)).open);
    case 'override':
      return saidJson(item.value);
    default:
      return item.members;
  }
}

const LOCAL_IDENTITY = originIdentityOf({ transport: { kind: 'local', tools: [], modules: [] } });

function gatewayTarget(name: string): AuditTarget {
  return { kind: 'gateway', id: gatewayIdOf(name), name };
}

function toolTarget([server, identity, name]: readonly [string, string, string]): AuditTarget {
  return { kind: 'tool', id: toolIdOf(server, identity, name), name: `${server}.${name}` };
}
