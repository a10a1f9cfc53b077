import type { StoredCall } from '../../../core/activity/call-chain.ts';
import { readCallEntry } from '../../../core/activity/call-entry.ts';
import { computeToolId } from '../../../core/record-ids.ts';
import { type JsonObject, parseObject } from '@assay-mcp/kit/json-object';
import type { Refusal } from '../../../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { ServerSpec } from '../../../core/server-spec.ts';
import { getServerIds } from '../../catalog/tool-claims.ts';
import type { CallStore } from '../../ports/call-log.ts';

/** By the names that the server gives its tools. */
export type RecordedArguments = ReadonlyMap<string, readonly JsonObject[]>;

export interface ArgumentsReader {
  readonly open: () => Promise<Result<Pick<CallStore, 'calls'>, Refusal>>;
  /** Masks secrets in JSON text, and cuts it. */
  readonly shown: (text: string) => { readonly text: string; readonly isShortened: boolean };
}

const PAGE = 500;
const MAX_PAGES = 4;
const MAX_SETS = 5;

/**
 * Arguments of the last successful calls of a server's tools, with secrets masked: the newest for each combination of
 * members. Shortened arguments are left out.
 */
export async function readRecordedArguments(
  { open, shown }: ArgumentsReader,
  spec: ServerSpec,
): Promise<Result<RecordedArguments, Refusal>> {
  const store = await open();
  if (!store.ok) return store;
  const found = new Map<string, Map<string, JsonObject>>();
  let before: number | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const read = await store.value.calls({ server: spec.name, outcome: 'ok', before, limit: PAGE });
    if (!read.ok) return read;
    for (const stored of read.value.calls) {
      const call = callIn(stored, spec, shown);
      if (call === undefined) continue;
      const sets = found.get(call.tool) ?? new Map<string, JsonObject>();
      found.set(call.tool, sets);
      const members = JSON.stringify(Object.keys(call.args).sort());
      if (!sets.has(members) && sets.size < MAX_SETS) sets.set(members, call.args);
    }
    if (read.value.calls.length < PAGE) break;
    before = read.value.calls.at(-1)?.id;
  }
  return ok(new Map([...found].map(([tool, sets]) => [tool, [...sets.values()]])));
}

/** Undefined if its arguments were not recorded in full, or another server had the name at that time. */
function callIn(
  stored: StoredCall,
  spec: ServerSpec,
  shown: ArgumentsReader['shown'],
): { readonly tool: string; readonly args: JsonObject } | undefined {
  const entry = readCallEntry(stored, stored.context?.text ?? '');
  if (entry?.kind !== 'call' || entry.arguments === undefined || entry.arguments.isShortened)
    return undefined;
  const { id, namespacedName = '' } = entry.tool;
  const tool = namespacedName.slice(spec.name.length + 1);
  if (id !== computeToolId(spec.name, getServerIds(spec).identity, tool)) return undefined;
  const masked = shown(entry.arguments.text);
  return masked.isShortened ? undefined : { tool, args: parseObject(masked.text) };
}
