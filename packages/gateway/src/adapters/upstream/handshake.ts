import { Cancellation } from '@assay-mcp/kit/cancellation';
import type { Cause } from '../../core/cause.ts';
import { toCause } from '../../core/refusal-cause.ts';
import { shortenPeerText } from '../../core/bounded-refusal.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import {
  buildOwnUpstreamRequest,
  type UpstreamRequest,
  type Capabilities,
  type OpenOptions,
  type Reply,
} from '../../gateway/ports/link.ts';
import { getEra, MODERN_VERSION, NEWEST_LEGACY_VERSION, type Era } from '@assay-mcp/protocol/eras';
import { isParsable, buildOwnRequest, TOO_LARGE_TO_PARSE } from '@assay-mcp/protocol/message';
import { isJsonObject, parseObject } from '@assay-mcp/kit/json-object';

/** What a server declares in its handshake. */
export interface Facts {
  readonly era: Era;
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly instructions: string | undefined;
}

/** Sends a request in the form of the given era, before a link exists. */
export type Probe = (request: UpstreamRequest, to: Era) => Promise<Result<Reply, Refusal>>;

export interface Introduction {
  /** Assay's own name and version, as JSON text. */
  readonly ownInfo: string;
  readonly profile: OpenOptions['client'];
}

/** `legacy`: no modern server would answer this way (2026-07-28, basic/transports/stdio#backward-compatibility). */
export type Discovery =
  | { readonly kind: 'modern'; readonly facts: Facts }
  | { readonly kind: 'legacy' }
  | { readonly kind: 'failed'; readonly refusal: Refusal };

/**
 * Asks a server with `server/discover` whether it speaks the modern era. Waits until the signal aborts. A server that
 * refuses our revision but lists it as supported is asked once more before it counts as legacy
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
  const reply = await probe(
    buildOwnUpstreamRequest(buildOwnRequest('server/discover'), Infinity, following(signal)),
    'modern',
  );
  if (!reply.ok) return { kind: 'failed', refusal: reply.error };
  const { result, error } = parsed(reply.value);
  if (names(result?.['supportedVersions']))
    return { kind: 'modern', facts: factsOf(result ?? {}, 'modern', MODERN_VERSION) };
  const data = error?.['data'];
  if (error?.['code'] === UNSUPPORTED_VERSION && isJsonObject(data) && names(data['supported']))
    return { kind: 'refused' };
  // May also be a modern server without our revision: a dual-era one may still accept `initialize`.
  return { kind: 'legacy' };
}

const UNSUPPORTED_VERSION = -32022;

function names(versions: unknown): boolean {
  return Array.isArray(versions) && versions.includes(MODERN_VERSION);
}

/** Why a handshake failed, with the HTTP status if the server answered with one. */
export interface HandshakeFault {
  readonly cause: Cause;
  readonly httpStatus: number | undefined;
}

/** The handshake of the legacy era. */
export async function initialize(
  probe: Probe,
  introduction: Introduction,
  signal: AbortSignal,
): Promise<Result<Facts, HandshakeFault>> {
  const profile = await introduction.profile;
  const request = buildOwnRequest('initialize', {
    protocolVersion: NEWEST_LEGACY_VERSION,
    capabilities: parseObject(profile?.capabilities ?? '{}'),
    clientInfo: parseObject(profile?.clientInfo ?? introduction.ownInfo),
  });
  const reply = await probe(buildOwnUpstreamRequest(request, Infinity, following(signal)), 'legacy');
  if (!reply.ok)
    return signal.aborted
      ? fault({ code: 'HANDSHAKE_TIMEOUT' })
      : fault(toHandshakeCause(reply.error), reply.error);
  const { result, error } = parsed(reply.value);
  if (!isParsable(reply.value.message))
    return fault({ code: 'HANDSHAKE_TOO_LARGE', reason: TOO_LARGE_TO_PARSE });
  if (result === undefined) return fault({ code: 'HANDSHAKE_REFUSED', message: quoted(error?.['message']) });
  const version = result['protocolVersion'];
  if (typeof version !== 'string' || getEra(version) !== 'legacy')
    return fault({ code: 'PROTOCOL_VERSION_UNSUPPORTED', version: quoted(version) });
  return ok(factsOf(result, 'legacy', version));
}

function fault(cause: Cause, refusal?: Refusal): Result<never, HandshakeFault> {
  const httpStatus = refusal?.code === 'SERVER_UNAVAILABLE' ? refusal.httpStatus : undefined;
  return err({ cause, httpStatus });
}

/** Text from a server, truncated; undefined if the value is not a string. */
function quoted(value: unknown): string | undefined {
  return typeof value === 'string' ? shortenPeerText(value) : undefined;
}

/** A cancellation that follows a signal. For one-time use at startup: the signal keeps a reference to it. */
function following(signal: AbortSignal): Cancellation {
  const cancellation = new Cancellation();
  if (signal.aborted) cancellation.cancel();
  else signal.addEventListener('abort', () => cancellation.cancel(), { once: true });
  return cancellation;
}

/** Why the server failed the handshake. Only the time limit cancels a handshake request. */
export function toHandshakeCause(refusal: Refusal): Cause {
  return refusal.code === 'CANCELLED' ? { code: 'HANDSHAKE_TIMEOUT' } : toCause(refusal);
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

/** Both undefined if the answer is too large or is not JSON. */
function parsed({ message: answer }: Reply): Parsed {
  const message = isParsable(answer) ? parseObject(answer.bytes.toString()) : {};
  return {
    result: isJsonObject(message['result']) ? message['result'] : undefined,
    error: isJsonObject(message['error']) ? message['error'] : undefined,
  };
}
