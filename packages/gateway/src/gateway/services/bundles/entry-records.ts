import type { Entry, EntryBundleRecord } from '../../../core/bundle/bundle.ts';
import { computeModuleId, computeGatewayId, computeRestToolId } from '../../../core/record-ids.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ServerSpec } from '../../../core/server-spec.ts';
import type { EntryFault } from '@assay-mcp/kit/json-position';
import { toCustomServerSpec } from '../../../core/sources/custom-server.ts';
import { toSealName } from '../../catalog/registered.ts';
import type { ReadEntry, ReadCustom } from '../../ports/config-entries.ts';
import type { EntryRecordKind } from '../../../core/record.ts';
import { needsExecute } from '../servers/needs-execute.ts';

/** The record id of the entry with a name. */
export const ENTRY_IDS: Readonly<Record<EntryRecordKind, (name: string) => string>> = {
  gateway: computeGatewayId,
  rest_tool: computeRestToolId,
  function_module: computeModuleId,
};

/** The name that an entry is sealed under. */
export function toEntrySealName(kind: EntryRecordKind, name: string): string {
  return kind === 'gateway' ? name : toSealName(kind, name);
}

export interface EntryReaders {
  readonly readEntry: ReadEntry;
  readonly readCustom: ReadCustom;
}

/** The spec that an entry defines. */
export function readEntrySpec(
  { kind, body: { name, entry } }: EntryBundleRecord,
  { readEntry, readCustom }: EntryReaders,
): Result<ServerSpec, readonly EntryFault[]> {
  if (kind === 'gateway') return readEntry(name, entry);
  if (kind === 'rest_tool') {
    const tool = readCustom.tool(name, entry);
    return tool.ok ? toSpec({ tools: [tool.value], modules: [] }) : tool;
  }
  const module = readCustom.module(entry);
  if (!module.ok) return module;
  const { path } = module.value;
  if (path !== name) return err([{ field: 'module', reason: `Its name must be its path, ${path}.` }]);
  return toSpec({ tools: [], modules: [module.value] });
}

function toSpec(custom: Parameters<typeof toCustomServerSpec>[0]): Result<ServerSpec, readonly EntryFault[]> {
  const spec = toCustomServerSpec(custom);
  return spec === undefined ? err([{ field: '', reason: 'It makes nothing.' }]) : ok(spec);
}

/** Whether importing it takes the `execute` scope: it starts a process or reads a file of this machine. */
export function takesExecute(kind: EntryRecordKind, entry: Entry): boolean {
  return kind === 'function_module' || (kind === 'gateway' && needsExecute(entry));
}
