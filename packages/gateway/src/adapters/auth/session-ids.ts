import { computeShortHash } from '@assay-mcp/kit/digest';
import { isJsonObject, parseObject } from '@assay-mcp/kit/json-object';
import type { Refusal } from '../../core/refusal.ts';
import type { SealedSession, SessionBinding, SessionIds } from '../../gateway/ports/sealing.ts';
import type { StoredKey } from '../../gateway/ports/store.ts';
import { KeyRing, type KeyRingOptions } from './key-ring.ts';
import { seal, unseal } from './seal.ts';

/** Maximum length of an id in characters. */
const MAX_ID_LENGTH = 512;
/** Length of the mark that names the key, in front of the encrypted part. */
const MARK_LENGTH = 8;
/** What nonce and tag take. */
const OVERHEAD_BYTES = 28;
/** Bytes of text that fit into an id, of which base64 makes a third more. */
const MAX_TEXT_BYTES = Math.floor(((MAX_ID_LENGTH - MARK_LENGTH) * 3) / 4) - OVERHEAD_BYTES;
/** Bytes of the client's name and version that are kept if not all of its declarations fit. */
const MAX_NAME_BYTES = 64;
const MAX_VERSION_BYTES = 32;

/**
 * Ids of legacy sessions: AES-256-GCM with a key of their own purpose. Endpoint and holder are authenticated, so that
 * an id opens only where, and for whom, it was given.
 */
export class SealedSessionIds implements SessionIds {
  readonly #keys: KeyRing;
  readonly #nowMs: () => number;

  constructor({
    nowMs = Date.now,
    ...options
  }: Pick<KeyRingOptions, 'openStore' | 'derivedKeys' | 'log'> & { readonly nowMs?: () => number }) {
    this.#nowMs = nowMs;
    this.#keys = new KeyRing({
      ...options,
      purpose: 'legacy-session',
      warning: 'sessions of the older revisions will not outlast this process',
    });
  }

  get fault(): Refusal | undefined {
    return this.#keys.fault;
  }

  get hasPrivateKeys(): boolean {
    return this.#keys.hasPrivateKeys;
  }

  async load(): Promise<void> {
    await this.#keys.newest(this.#nowMs());
  }

  async seal(session: SealedSession, binding: SessionBinding): Promise<string> {
    const key = await this.#keys.newest(this.#nowMs());
    return `${markOf(key)}${seal(toText(session), aboutOf(binding), key).toString('base64url')}`;
  }

  async open(id: string, binding: SessionBinding): Promise<SealedSession | undefined> {
    if (id.length > MAX_ID_LENGTH || id.length <= MARK_LENGTH) return undefined;
    const bytes = Buffer.from(id.slice(MARK_LENGTH), 'base64url');
    // Of several spellings of the same bytes only one is an id, so that each session has one.
    if (bytes.toString('base64url') !== id.slice(MARK_LENGTH)) return undefined;
    const mark = id.slice(0, MARK_LENGTH);
    const key = await this.#keys.find((one) => markOf(one) === mark, this.#nowMs());
    const text = key && unseal(bytes, aboutOf(binding), key);
    return text === undefined ? undefined : readText(text);
  }
}

/** Key ids are unbounded text, and are not part of the id. */
function markOf({ id }: StoredKey): string {
  return computeShortHash(id, MARK_LENGTH);
}

function aboutOf({ endpoint, holder: { subject, tokenId, sessionId } }: SessionBinding): string {
  return JSON.stringify(['legacy-session', endpoint, subject, tokenId ?? null, sessionId ?? null]);
}

/** Only the last part may contain line breaks. */
function toText(session: SealedSession): string {
  const { id, createdMs, version } = session;
  const parts = (capabilities: string, clientInfo = ''): string =>
    [id, createdMs, version, capabilities, clientInfo].join('\n');
  const whole = parts(session.capabilities, session.clientInfo);
  if (Buffer.byteLength(whole) <= MAX_TEXT_BYTES) return whole;
  const clientInfo = shortenClientInfo(session.clientInfo);
  const named = parts(session.capabilities, clientInfo);
  return Buffer.byteLength(named) <= MAX_TEXT_BYTES
    ? named
    : parts(keepKnownCapabilities(session.capabilities), clientInfo);
}

function readText(text: string): SealedSession | undefined {
  const [id, createdMs, version, capabilities, ...rest] = text.split('\n');
  if (id === undefined || version === undefined || capabilities === undefined) return undefined;
  const clientInfo = rest.join('\n');
  return {
    ...{ id, createdMs: Number(createdMs), version, capabilities },
    clientInfo: clientInfo === '' ? undefined : clientInfo,
  };
}

/** Title, icons and the like are left out, and a long name or version is cut. */
function shortenClientInfo(clientInfo: string | undefined): string | undefined {
  if (clientInfo === undefined) return undefined;
  const { name, version } = parseObject(clientInfo);
  return JSON.stringify({
    ...(typeof name === 'string' && { name: cut(name, MAX_NAME_BYTES) }),
    ...(typeof version === 'string' && { version: cut(version, MAX_VERSION_BYTES) }),
  });
}

/** The longest beginning that takes at most so many bytes as JSON text. */
function cut(text: string, maxBytes: number): string {
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += Buffer.byteLength(JSON.stringify(character)) - 2;
    if (bytes > maxBytes) break;
    kept += character;
  }
  return kept;
}

/** The capabilities, and their members, that the older revisions define (2025-11-25, basic/lifecycle). */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  roots: ['listChanged'],
  sampling: ['context', 'tools'],
  elicitation: ['form', 'url'],
};

function keepKnownCapabilities(capabilities: string): string {
  const declared = parseObject(capabilities);
  const kept = Object.entries(KNOWN).flatMap(([name, members]) => {
    const value = declared[name];
    if (value === undefined) return [];
    const given = isJsonObject(value) ? value : {};
    const some = members.flatMap((member) => {
      const one = given[member];
      if (one === undefined) return [];
      return [[member, typeof one === 'boolean' ? one : {}] as const];
    });
    return [[name, Object.fromEntries(some)] as const];
  });
  return JSON.stringify(Object.fromEntries(kept));
}
