import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { GatewayEntry, GatewayWord } from '../ports/gateways.ts';
import type { Words } from '../words/words.ts';
import type { GatewayDesk } from './gateway-desk.ts';
import type { GatewayView } from './gateway-view.ts';
import type { RegisteredGateways } from './registered.ts';

export interface Importing {
  readonly gateways: GatewayDesk;
  readonly words: Words;
  readonly registered: RegisteredGateways;
  readonly nowMs: () => number;
}

export interface DocumentWish {
  readonly name: string;
  /** Whether somebody chose the name, so that another document of that name is to be replaced. */
  readonly isNameGiven: boolean;
  readonly entry: GatewayEntry;
  readonly trust?: boolean | undefined;
}

/**
 * Makes a source of an OpenAPI document, or reads it anew where it is one already, also where another process serves it.
 * One that cannot be read changes nothing. GATEWAY_TAKEN where something else has the name; SERVER_UNAVAILABLE
 */
export async function importDocument(
  importing: Importing,
  wish: DocumentWish,
  subject: string,
): Promise<Result<GatewayView, Refusal>> {
  const { gateways, words } = importing;
  const { name, entry, trust } = wish;
  const found = gateways.find(name);
  if (!found.ok) {
    const made = await gateways.register(name, { entry, trust }, { subject });
    if (!made.ok || made.value.reachable) return made;
    await gateways.remove(name, { subject });
    return unread(made.value);
  }
  const { id, transport, openapi } = found.value;
  const isOther = transport !== 'openapi' || (!wish.isNameGiven && openapi !== entry['openapi']);
  if (isOther) return err({ code: 'GATEWAY_TAKEN', name });
  const before = words.find('gateway', id)?.body;
  const changed = await gateways.change(name, { entry, trust }, { subject });
  if (!changed.ok) return changed;
  if (changed.value.reachable) return readAnew(importing, id, changed.value);
  await words.change<undefined>({ kind: 'gateway', id }, () => ok({ body: before, value: undefined }));
  await importing.registered.settled();
  return unread(changed.value);
}

/** Whoever serves it hears of the word, and reads the document. */
async function readAnew(
  { words, nowMs }: Importing,
  id: string,
  view: GatewayView,
): Promise<Result<GatewayView, Refusal>> {
  return words.change<GatewayView>({ kind: 'gateway', id }, (body) => {
    const word = body as GatewayWord | undefined; // the desk of gateways wrote it
    return ok({ body: word && { ...word, importedMs: nowMs() }, value: view });
  });
}

function unread({ name, cause = 'it was not read in time' }: GatewayView): Result<never, Refusal> {
  return err({ code: 'SERVER_UNAVAILABLE', server: name, cause });
}
