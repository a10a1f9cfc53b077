import { Cancellation } from '../../core/cancellation.ts';
import { facesOf } from '../../core/errors.ts';
import { authorizationPhrase, sentenceOf } from '../../core/sentences.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { lasting, passing, type Ending } from '../../core/supervision.ts';
import { ownAsk, type Ask, type Capabilities, type Opening, type Reply } from '../../gateway/ports/link.ts';
import { eraOf, MODERN_VERSION, NEWEST_LEGACY_VERSION, type Era } from '../../protocol/eras.ts';
import { isParsable, ownRequest, TOO_LARGE_TO_PARSE } from '../../protocol/message.ts';
import { isJsonObject } from '../../core/json-object.ts';

/** What a server says of itself at the start. */
export interface Facts {
  readonly era: Era;
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly instructions: string | undefined;
}

/** Sends a request in the form of an era, before a link exists. */
export type Probe = (ask: Ask, to: Era) => Promise<Result<Reply, Refusal>>;

export interface Identity {
  /** Assay's own name and version, as JSON text. */
  readonly ownInfo: string;
  readonly offer: Opening['offer'];
}

/** `legacy`: the answer is none of a modern server (2026-07-28, basic/transports/stdio#backward-compatibility). */
export type Discovery =
  | { readonly kind: 'modern'; readonly facts: Facts }
  | { readonly kind: 'legacy' }
  | { readonly kind: 'failed'; readonly refusal: Refusal };

/**
 * Asks a server with `server/discover` whether it speaks the modern era. Waits as long as the signal allows. A server that
 * refuses our revision and names it among those that it speaks is asked once more, rather than taken for a legacy one
 * (2026-07-28, basic/versioning#protocol-version-negotiation).
 */
export async function discover(probe: Probe, signal: AbortSignal): Promise<Discovery> {
  const first = await discoverOnce(probe, signal);
  return first.kind === 'refused' ? asLegacy(await discoverOnce(probe, signal)) : first;
}

function asLegacy(again: Discovery | { readonly kind: 'refused' }): Discovery {
  return again.kind === 'refused' ? { kind: 'legacy' } : again;
}

async function discoverOnce(
  probe: Probe,
  signal: AbortSignal,
): Promise<Discovery | { readonly kind: 'refused' }> {
  const reply = await probe(ownAsk(ownRequest('server/discover'), Infinity, following(signal)), 'modern');
  if (!reply.ok) return { kind: 'failed', refusal: reply.error };
  const { result, error } = parsed(reply.value);
  if (names(result?.['supportedVersions']))
    return { kind: 'modern', facts: factsOf(result ?? {}, 'modern', MODERN_VERSION) };
  const data = error?.['data'];
  if (error?.['code'] === UNSUPPORTED_VERSION && isJsonObject(data) && names(data['supported']))
    return { kind: 'refused' };
  // Also a modern server that does not speak our revision: it may yet serve `initialize`, as dual-era servers do.
  return { kind: 'legacy' };
}

const UNSUPPORTED_VERSION = -32022;

function names(versions: unknown): boolean {
  return Array.isArray(versions) && versions.includes(MODERN_VERSION);
}

/** Why a handshake failed; with the HTTP status where that was the answer. */
export interface HandshakeFault extends Ending {
  readonly httpStatus: number | undefined;
}

/** The handshake of the legacy era. */
export async function initialize(
  probe: Probe,
  identity: Identity,
  signal: AbortSignal,
): Promise<Result<Facts, HandshakeFault>> {
  const offer = await identity.offer;
  const request = ownRequest('initialize', {
    protocolVersion: NEWEST_LEGACY_VERSION,
    capabilities: objectOf(offer?.capabilities ?? '{}'),
    clientInfo: objectOf(offer?.clientInfo ?? identity.ownInfo),
  });
  const reply = await probe(ownAsk(request, Infinity, following(signal)), 'legacy');
  if (!reply.ok)
    return signal.aborted
      ? fault(passing('it did not answer "initialize" in time'))
      : fault(endingOf(reply.error), reply.error);
  const { result, error } = parsed(reply.value);
  if (!isParsable(reply.value.message))
    return fault(lasting(`its answer to "initialize" is ${TOO_LARGE_TO_PARSE}`));
  if (result === undefined)
    return fault(passing(`it refused "initialize": ${quoted(error?.['message'] ?? 'no reason')}`));
  const version = result['protocolVersion'];
  if (typeof version !== 'string' || eraOf(version) !== 'legacy')
    return fault(lasting(`it wants protocol version ${quoted(version)}, which Assay does not speak`));
  return ok(factsOf(result, 'legacy', version));
}

function fault(ending: Ending, refusal?: Refusal): Result<never, HandshakeFault> {
  const httpStatus = refusal?.code === 'SERVER_UNAVAILABLE' ? refusal.httpStatus : undefined;
  return err({ ...ending, httpStatus });
}

const LONGEST_QUOTE = 200;

/** What a server said, inside a phrase of ours. */
function quoted(value: unknown): string {
  const text = value === undefined ? 'nothing' : JSON.stringify(value);
  return text.length > LONGEST_QUOTE ? `${text.slice(0, LONGEST_QUOTE)}…` : text;
}

/** A cancellation that follows a signal; for what happens once at a start, as the signal keeps hold of it. */
function following(signal: AbortSignal): Cancellation {
  const cancellation = new Cancellation();
  if (signal.aborted) cancellation.cancel();
  else signal.addEventListener('abort', () => cancellation.cancel(), { once: true });
  return cancellation;
}

/** Credentials and addresses do not mend themselves. */
const HOPELESS_ANSWERS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308, 401, 403]);

/** Why nothing comes of a server that refused so. */
export function endingOf(refusal: Refusal): Ending {
  if (refusal.code === 'AUTHORIZATION_NEEDED')
    return { cause: authorizationPhrase(refusal), isHopeless: true, isUnauthorized: true };
  const cause = 'cause' in refusal ? refusal.cause : `${sentenceOf(refusal)} (${facesOf(refusal).rpc})`;
  const status = refusal.code === 'SERVER_UNAVAILABLE' ? refusal.httpStatus : undefined;
  return { cause, isHopeless: status !== undefined && HOPELESS_ANSWERS.has(status) };
}

function factsOf(result: Readonly<Record<string, unknown>>, era: Era, version: string): Facts {
  const { capabilities, instructions } = result;
  return {
    era,
    version,
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === 'string' ? instructions : undefined,
  };
}

interface Parsed {
  readonly result: Readonly<Record<string, unknown>> | undefined;
  readonly error: Readonly<Record<string, unknown>> | undefined;
}

/** Both undefined when the answer is too large, or turns out to be no JSON. */
function parsed({ message: answer }: Reply): Parsed {
  const message = isParsable(answer) ? objectOf(answer.bytes.toString()) : {};
  return {
    result: isJsonObject(message['result']) ? message['result'] : undefined,
    error: isJsonObject(message['error']) ? message['error'] : undefined,
  };
}

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}
