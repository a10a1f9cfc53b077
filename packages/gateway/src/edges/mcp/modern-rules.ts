import type { IncomingMessage } from 'node:http';
import { LOG_LEVELS } from '../../core/log-levels.ts';
import type { Refusal } from '../../core/refusal.ts';
import { getEra, METHODS, MODERN_VERSIONS } from '@assay-mcp/protocol/eras';
import * as headers from '@assay-mcp/protocol/headers';
import type { NotificationMessage, RequestMessage } from '@assay-mcp/protocol/message';
import {
  findMember,
  readRawValue,
  readJsonString,
  type JsonObject,
  type Span,
} from '@assay-mcp/protocol/spans';

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
const LOG_LEVEL_KEY = 'io.modelcontextprotocol/logLevel';
const CLIENT_KEY = 'io.modelcontextprotocol/clientInfo';

/** Identifies a client without a session: by its token and its name. */
export function getClientKey(message: RequestMessage, subject: string): string {
  const info = findMember(metaOf(message), CLIENT_KEY)?.object;
  const name = readJsonString(message.bytes, findMember(info, 'name')) ?? '';
  return JSON.stringify([subject, name.slice(0, LONGEST_NAME)]);
}

/** A longer client name is cut off. */
const LONGEST_NAME = 200;

/** Whether the envelope of a message declares its revision: the mark of the modern era. */
export function isEnveloped(message: RequestMessage | NotificationMessage): boolean {
  return findMember(metaOf(message), VERSION_KEY) !== undefined;
}

/** The first fault in the envelope of a modern request, if any (2026-07-28, basic/index#_meta). */
export function findEnvelopeFault(message: RequestMessage): Refusal | undefined {
  return shapeFault(message) ?? versionFault(message);
}

/**
 * Also checks the headers that repeat the body (2026-07-28, basic/transports/streamable-http#server-validation). A
 * version mismatch takes precedence over an unsupported version, whose rules for other headers are unknown.
 */
export function findPostFault(
  message: RequestMessage,
  request: Pick<IncomingMessage, 'headers' | 'headersDistinct'>,
): Refusal | undefined {
  const { headers: given } = request;
  return (
    shapeFault(message) ??
    mismatch('MCP-Protocol-Version', given[headers.PROTOCOL_VERSION], versionOf(message)) ??
    versionFault(message) ??
    mismatch('Mcp-Method', given[headers.METHOD], message.method) ??
    nameFault(message, request)
  );
}

function shapeFault(message: RequestMessage): Refusal | undefined {
  const meta = metaOf(message);
  const { bytes } = message;
  if (versionOf(message) === undefined)
    return missing(VERSION_KEY, 'it must be a string such as "2026-07-28"');
  if (findMember(meta, CAPABILITIES_KEY)?.object === undefined)
    return missing(CAPABILITIES_KEY, 'it must be an object; {} says that the client has none');
  const client = findMember(meta, CLIENT_KEY);
  if (client !== undefined && !isImplementation(bytes, client.object))
    return missing(CLIENT_KEY, 'it must be an object with a "name" and a "version"');
  const level = findMember(meta, LOG_LEVEL_KEY);
  if (level !== undefined && !LOG_LEVELS.includes(readJsonString(bytes, level) ?? ''))
    return missing(LOG_LEVEL_KEY, `it must be one of ${LOG_LEVELS.join(', ')}`);
  return undefined;
}

/** A request may declare the revisions listed by `server/discover`; older ones begin with `initialize`. */
function versionFault(message: RequestMessage): Refusal | undefined {
  const requested = versionOf(message) ?? '';
  return getEra(requested) === 'modern'
    ? undefined
    : { code: 'PROTOCOL_UNSUPPORTED', requested, supported: MODERN_VERSIONS };
}

function nameFault(
  message: RequestMessage,
  request: Pick<IncomingMessage, 'headers' | 'headersDistinct'>,
): Refusal | undefined {
  const source = METHODS.get(message.method)?.named;
  const name = source && readJsonString(message.bytes, findMember(message.params, source));
  if (name === undefined) return undefined;
  const header = request.headers[headers.NAME];
  const decoded = typeof header === 'string' ? headers.decodeHeader(header) : undefined;
  if (header !== undefined && decoded === undefined)
    return { code: 'HEADER_MISMATCH', header: 'Mcp-Name', reason: 'it is not encoded as the transport asks' };
  // Node joins repeated headers with a comma; a proxy may have routed by the first one only.
  if (header?.includes(',') === true && request.headersDistinct[headers.NAME]?.length !== 1)
    return { code: 'HEADER_MISMATCH', header: 'Mcp-Name', reason: 'it is there twice' };
  return mismatch('Mcp-Name', decoded, name);
}

/** Whether the header of a request names a revision of the modern era. */
export function namesModern({ headers: given }: Pick<IncomingMessage, 'headers'>): boolean {
  const version = given[headers.PROTOCOL_VERSION];
  return typeof version === 'string' && getEra(version) === 'modern';
}

/** The fault of a legacy message sent with a modern header. */
export function toMissingEnvelopeRefusal(): Refusal {
  return missing(
    VERSION_KEY,
    'it is missing, though the MCP-Protocol-Version header names a revision that needs it',
  );
}

/** The fault of a client whose first request is neither `initialize` nor enveloped. */
export const UNOPENED: Refusal = {
  code: 'ENVELOPE_INVALID',
  field: 'params._meta["io.modelcontextprotocol/protocolVersion"]',
  reason: 'it is missing; send it, or "initialize" first',
};

function versionOf(message: RequestMessage): string | undefined {
  return readJsonString(message.bytes, findMember(metaOf(message), VERSION_KEY));
}

/** The client's JSON text with its name and version, if it sends one. */
export function readClientInfo(message: RequestMessage): string | undefined {
  const member = findMember(metaOf(message), CLIENT_KEY);
  return member && readRawValue(message.bytes, member);
}

function metaOf(message: RequestMessage | NotificationMessage): JsonObject | undefined {
  return findMember(message.params, '_meta')?.object;
}

function missing(key: string, reason: string): Refusal {
  return { code: 'ENVELOPE_INVALID', field: `params._meta["${key}"]`, reason };
}

function mismatch(
  header: string,
  given: string | string[] | undefined,
  body: string | undefined,
): Refusal | undefined {
  if (given === undefined) return { code: 'HEADER_MISMATCH', header, reason: 'it is missing' };
  if (given === body) return undefined;
  return {
    code: 'HEADER_MISMATCH',
    header,
    reason: `it is ${JSON.stringify(given)}, but the body says ${JSON.stringify(body)}`,
  };
}

function isImplementation(bytes: Buffer, object: JsonObject | undefined): boolean {
  if (object === undefined) return false;
  return isString(bytes, findMember(object, 'name')) && isString(bytes, findMember(object, 'version'));
}

function isString(bytes: Buffer, member: Span | undefined): boolean {
  return member !== undefined && bytes[member.start] === QUOTE;
}

const QUOTE = 0x22;
