import type { DocumentTool } from '../../../api/server.ts';
import { type Cause, formatCause } from '../../../core/cause.ts';
import { HINTS } from '@assay-mcp/kit/hint';
import { toReason } from '../../../core/hints/reason.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ServerSpec } from '../../../core/server-spec.ts';
import { getDeclared } from '../../catalog/definition-facts.ts';
import { readList } from '../../catalog/inventory.ts';
import { DECLARED_ALONE } from '../../catalog/tool-claims.ts';
import type { ConfigEntry, Imported, ReachFaults, ReadEntry } from '../../ports/config-entries.ts';
import type { Connect, Definition, Link, LinkEvents, Skipped } from '../../ports/link.ts';

export interface DocumentDeps {
  readonly connect: Connect;
  readonly readEntry: ReadEntry;
  readonly reachFaults: ReachFaults;
  /** Masks the secrets of an entry from now on. */
  readonly registered: { learn(spec: ServerSpec): void };
  readonly nowMs: () => number;
}

export interface DocumentTools {
  readonly tools: readonly DocumentTool[];
  readonly skipped: readonly Skipped[];
}

const PREVIEW_NAME = 'preview';

/** What an entry with an OpenAPI document would add. Stores nothing. Error: GATEWAY_INVALID, at the field at fault. */
export async function previewDocument(
  deps: DocumentDeps,
  entry: ConfigEntry,
  trust: boolean | undefined,
): Promise<Result<DocumentTools, Refusal>> {
  const { connect, readEntry, reachFaults, registered } = deps;
  const read = readEntry(PREVIEW_NAME, entry);
  if (!read.ok) return invalid(read.error);
  const spec: ServerSpec = trust === undefined ? read.value : { ...read.value, trust };
  const faults = await reachFaults(spec, entry);
  if (faults.length > 0) return invalid(faults);
  registered.learn(spec);
  const document = await usableDocument(
    connect,
    spec,
    entry['document'] === undefined ? 'openapi' : 'document',
  );
  if (!document.ok) return document;
  const { definitions, skipped } = document.value;
  return ok({ tools: definitions.map((definition) => toolOf(spec, definition)), skipped });
}

/** The import of an uploaded document. GATEWAY_INVALID if it yields no tools. */
export function createUpload({ connect, nowMs }: Pick<DocumentDeps, 'connect' | 'nowMs'>): Imported {
  return {
    atMs: nowMs(),
    read: async (spec) => {
      const document = await usableDocument(connect, spec, 'document');
      return document.ok ? ok(undefined) : document;
    },
  };
}

interface ReadDocument {
  readonly definitions: readonly Definition[];
  readonly skipped: readonly Skipped[];
}

/** Reads a document; the caller closes the link. Needs no timeout: the source has its own. */
export async function openDocument(connect: Connect, spec: ServerSpec): Promise<Result<Link, Cause>> {
  const { signal } = new AbortController();
  return connect(spec, { events: EVENTS, signal, client: undefined });
}

/** The tools that a document makes, as definitions. */
async function readDocument(connect: Connect, spec: ServerSpec): Promise<Result<ReadDocument, Cause>> {
  const opened = await openDocument(connect, spec);
  if (!opened.ok) return opened;
  const link = opened.value;
  try {
    const { timeoutMs } = spec;
    const read = await readList(link, 'tools', { timeoutMs, before: [], limits: LIMITS });
    return read.ok ? ok({ definitions: read.value.definitions, skipped: link.skipped ?? [] }) : read;
  } finally {
    await link.close({ code: 'LINK_CLOSED' });
  }
}

const ignore = (): void => undefined;
const EVENTS: LinkEvents = {
  changed: ignore,
  updated: ignore,
  missed: ignore,
  drained: ignore,
  ended: ignore,
};

/** A document has at most 32 MiB and yields at most 10,000 tools. */
const LIMITS = { listBytes: 256 * 1024 * 1024 };

/** GATEWAY_INVALID if the document cannot be read or makes no tools. */
async function usableDocument(
  connect: Connect,
  spec: ServerSpec,
  field: string,
): Promise<Result<ReadDocument, Refusal>> {
  const read = await readDocument(connect, spec);
  if (!read.ok) return invalid([{ field, reason: `The document ${formatCause(read.error)}` }]);
  const { definitions, skipped } = read.value;
  if (definitions.length > 0) return read;
  const [first] = skipped;
  const reason =
    first === undefined
      ? 'The document has no operations: there is none at "/paths"'
      : `No operation of the document can become a tool. ${first.what}: ${first.why}`;
  return invalid([{ field, reason }]);
}

function invalid(
  faults: readonly { readonly field: string; readonly reason: string }[],
): Result<never, Refusal> {
  return err({ code: 'GATEWAY_INVALID', name: PREVIEW_NAME, faults });
}

function toolOf(spec: ServerSpec, definition: Definition): DocumentTool {
  const { title } = getDeclared(definition);
  const { method, path } = definition.facts ?? {};
  const resolved = DECLARED_ALONE.resolvedOf(spec, definition);
  const hints = HINTS.map((hint) => {
    const { value, by } = resolved[hint].effective;
    const decidedBy = by.kind === 'claim' ? by.claim.kind : by.kind;
    return [hint, { effective: value, decidedBy, reason: toReason(by).text }] as const;
  });
  return {
    name: definition.key ?? '',
    ...(title !== undefined && { title }),
    ...(method !== undefined && { method }),
    ...(path !== undefined && { path }),
    hints: Object.fromEntries(hints) as DocumentTool['hints'], // every hint was visited
  };
}
