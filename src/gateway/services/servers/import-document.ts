import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import type { Connect, LinkEvents } from '../../ports/link.ts';
import type { GatewayEntry, Imported } from '../../ports/gateways.ts';
import type { ServerService } from './server-service.ts';
import type { GatewayView } from './gateway-view.ts';

export interface Importing {
  readonly gateways: ServerService;
  readonly connect: Connect;
  readonly nowMs: () => number;
}

export interface DocumentInput {
  readonly name: string;
  /** Whether somebody chose the name, so that another document of that name is to be replaced. */
  readonly isNameGiven: boolean;
  readonly entry: GatewayEntry;
  readonly trust?: boolean | undefined;
}

/**
 * Makes a source of an OpenAPI document, or reads it anew where it is one already, also where another process serves it.
 * One commit: a document that cannot be read changes nothing. GATEWAY_EXISTS where something else has the name;
 * SERVER_UNAVAILABLE
 */
export async function importDocument(
  importing: Importing,
  wish: DocumentInput,
  subject: string,
): Promise<Result<GatewayView, Refusal>> {
  const { gateways, nowMs } = importing;
  const { name, entry, trust } = wish;
  const imported: Imported = { read: (spec) => readable(importing, spec), atMs: nowMs() };
  const found = gateways.find(name);
  if (!found.ok) return gateways.register(name, { entry, trust, imported }, { subject });
  const { openapi } = found.value;
  const isOther = openapi === undefined || (!wish.isNameGiven && openapi !== entry['openapi']);
  if (isOther) return err({ code: 'GATEWAY_EXISTS', name });
  return gateways.change(name, { entry, trust, imported }, { subject });
}

const ignore = (): void => undefined;
const EVENTS: LinkEvents = {
  changed: ignore,
  updated: ignore,
  missed: ignore,
  drained: ignore,
  ended: ignore,
};

/** The source limits the time by itself. */
async function readable(
  { connect }: Importing,
  spec: Parameters<Connect>[0],
): Promise<Result<undefined, Refusal>> {
  const { signal } = new AbortController();
  const opened = await connect(spec, { events: EVENTS, signal, client: undefined });
  if (!opened.ok) return err({ code: 'SERVER_UNAVAILABLE', server: spec.name, cause: opened.error });
  await opened.value.close({ code: 'LINK_CLOSED' });
  return ok(undefined);
}
