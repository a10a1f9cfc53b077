import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Connect } from '../../ports/link.ts';
import type { ConfigEntry, Imported } from '../../ports/config-entries.ts';
import { openDocument } from './document-tools.ts';
import type { ServerService } from './server-service.ts';
import type { Gateway } from '../../../api/server.ts';

export interface ImportDeps {
  readonly servers: ServerService;
  readonly connect: Connect;
  readonly nowMs: () => number;
}

export interface DocumentInput {
  readonly name: string;
  /** Whether the name was given explicitly, so that a different document of that name is replaced. */
  readonly isNameGiven: boolean;
  readonly entry: ConfigEntry;
  readonly trust?: boolean | undefined;
}

/**
 * Registers an OpenAPI document as a source, or re-reads it if it already is one, also in other processes. One commit:
 * an unreadable document changes nothing. Errors: GATEWAY_EXISTS if something else has the name; SERVER_UNAVAILABLE.
 */
export async function importDocument(
  importing: ImportDeps,
  input: DocumentInput,
  subject: string,
): Promise<Result<Gateway, Refusal>> {
  const { servers, nowMs } = importing;
  const { name, entry, trust } = input;
  const imported: Imported = { read: (spec) => readable(importing, spec), atMs: nowMs() };
  const found = servers.find(name);
  if (!found.ok) return servers.register(name, { entry, trust, imported }, { subject });
  const { openapi } = found.value;
  const isOther = openapi === undefined || (!input.isNameGiven && openapi !== entry['openapi']);
  if (isOther) return err({ code: 'GATEWAY_EXISTS', name });
  return servers.change(name, { entry, trust, imported }, { subject });
}

async function readable(
  { connect }: ImportDeps,
  spec: Parameters<Connect>[0],
): Promise<Result<undefined, Refusal>> {
  const opened = await openDocument(connect, spec);
  if (!opened.ok) return err({ code: 'SERVER_UNAVAILABLE', server: spec.name, cause: opened.error });
  await opened.value.close({ code: 'LINK_CLOSED' });
  return ok(undefined);
}
