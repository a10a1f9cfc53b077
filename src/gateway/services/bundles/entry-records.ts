import type { Entry, EntryKind } from '../../../core/bundle/bundle.ts';
import { computeModuleId, computeGatewayId, computeRestToolId } from '../../../core/record-ids.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import type { ServerSpec } from '../../../core/server-spec.ts';
import type { EntryFault } from '../../../core/json-position.ts';
import { toCustomServerSpec } from '../../../core/sources/custom-server.ts';
import { toSealName } from '../../catalog/registered.ts';
import type { ReadEntry, ReadCustom } from '../../ports/config-entries.ts';
import type { EntryRecordKind } from '../../../core/record.ts';
import { needsExecute } from '../servers/needs-execute.ts';

interface EntryRecordFacts {
  readonly kind: EntryRecordKind;
  readonly idOf: (name: string) => string;
  /** The name the entry is sealed under. */
  readonly sealNameOf: (name: string) => string;
}

/** How each kind of entry is stored. */
export const ENTRY_RECORDS: Readonly<Record<EntryKind, EntryRecordFacts>> = {
  gateway: { kind: 'gateway', idOf: computeGatewayId, sealNameOf: (name) => name },
  tool: { kind: 'rest_tool', idOf: computeRestToolId, sealNameOf: (name) => toSealName('rest_tool', name) },
  function: {
    kind: 'function_module',
    idOf: computeModuleId,
    sealNameOf: (name) => toSealName('function_module', name),
  },
};

export interface EntryReaders {
  readonly readEntry: ReadEntry;
  readonly readCustom: ReadCustom;
}

export interface NamedEntry {
  readonly kind: EntryKind;
  readonly name: string;
  readonly entry: Entry;
}

/** The spec that an entry defines. */
export function readEntrySpec(
  { kind, name, entry }: NamedEntry,
  { readEntry, readCustom }: EntryReaders,
): Result<ServerSpec, readonly EntryFault[]> {
  if (kind === 'gateway') return readEntry(name, entry);
  if (kind === 'tool') {
    const tool = readCustom.tool(name, entry);
    return tool.ok ? local({ tools: [tool.value], modules: [] }) : tool;
  }
  const module = readCustom.module(entry);
  if (!module.ok) return module;
  const { path } = module.value;
  if (path !== name) return err([{ field: 'module', reason: `Its name must be its path, ${path}.` }]);
  return local({ tools: [], modules: [module.value] });
}

function local(made: Parameters<typeof toCustomServerSpec>[0]): Result<ServerSpec, readonly EntryFault[]> {
  const spec = toCustomServerSpec(made);
  return spec === undefined ? err([{ field: '', reason: 'It makes nothing.' }]) : ok(spec);
}

/** Whether importing it takes the `execute` scope: it starts a process or reads a file of this machine. */
export function takesExecute(kind: EntryKind, entry: Entry): boolean {
  return kind === 'function' || (kind === 'gateway' && needsExecute(entry));
}
