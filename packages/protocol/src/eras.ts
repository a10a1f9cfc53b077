/**
 * `legacy`: 2024-11-05 to 2025-11-25, with `initialize` and sessions. `modern`: 2026-07-28, stateless.
 * (2026-07-28, basic/versioning#terminology)
 */
export type Era = 'legacy' | 'modern';

interface Revision {
  readonly version: string;
  readonly era: Era;
  /** Whether clients may send JSON-RPC batches: 2025-03-26 has them, and 2024-11-05 does not rule them out. */
  readonly batches: boolean;
}

const REVISIONS: readonly Revision[] = [
  { version: '2026-07-28', era: 'modern', batches: false },
  { version: '2025-11-25', era: 'legacy', batches: false },
  { version: '2025-06-18', era: 'legacy', batches: false },
  { version: '2025-03-26', era: 'legacy', batches: true },
  { version: '2024-11-05', era: 'legacy', batches: true },
];

const BY_VERSION: ReadonlyMap<string, Revision> = new Map(REVISIONS.map((r) => [r.version, r]));

export const MODERN_VERSION = '2026-07-28';
export const NEWEST_LEGACY_VERSION = '2025-11-25';
/** The only legacy revision with tasks (2025-11-25, basic/utilities/tasks). */
export const LEGACY_TASKS_VERSION = '2025-11-25';

/** All revisions, newest first. */
export const SUPPORTED_VERSIONS: readonly string[] = REVISIONS.map((revision) => revision.version);
export const MODERN_VERSIONS: readonly string[] = REVISIONS.filter((r) => r.era === 'modern').map(
  (r) => r.version,
);

export function getEra(version: string): Era | undefined {
  return BY_VERSION.get(version)?.era;
}

/** Whether a revision allows batches of messages. */
export function hasBatches(version: string): boolean {
  return BY_VERSION.get(version)?.batches === true;
}

/** The revision for an `initialize` that requests `requested` (2025-11-25, basic/lifecycle#version-negotiation). */
export function chooseVersion(requested: string): string {
  return getEra(requested) === 'legacy' ? requested : NEWEST_LEGACY_VERSION;
}

/** In which eras a client may send a request, and what the modern era adds to its result. */
interface Method {
  readonly eras: readonly Era[];
  /** Results carry `ttlMs` and `cacheScope` in the modern era (server/utilities/caching). */
  readonly isCacheable: boolean;
  /** The parameter that the `Mcp-Name` header repeats in the modern era (basic/transports/streamable-http). */
  readonly named?: 'name' | 'uri' | 'taskId';
  /** Set if the request is relayed to a server rather than answered by Assay. */
  readonly isRelayed?: true;
}

const BOTH: readonly Era[] = ['legacy', 'modern'];

/** The requests that clients send and Assay answers or relays. */
export const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['initialize', { eras: ['legacy'], isCacheable: false }],
  ['ping', { eras: ['legacy'], isCacheable: false }],
  ['logging/setLevel', { eras: ['legacy'], isCacheable: false }],
  ['server/discover', { eras: ['modern'], isCacheable: true }],
  ['subscriptions/listen', { eras: ['modern'], isCacheable: false }],
  ['tools/list', { eras: BOTH, isCacheable: true }],
  ['tools/call', { eras: BOTH, isCacheable: false, named: 'name', isRelayed: true }],
  ['prompts/list', { eras: BOTH, isCacheable: true }],
  ['prompts/get', { eras: BOTH, isCacheable: false, named: 'name', isRelayed: true }],
  ['resources/list', { eras: BOTH, isCacheable: true }],
  ['resources/templates/list', { eras: BOTH, isCacheable: true }],
  ['resources/read', { eras: BOTH, isCacheable: true, named: 'uri', isRelayed: true }],
  // The modern era subscribes through `subscriptions/listen`.
  ['resources/subscribe', { eras: ['legacy'], isCacheable: false }],
  ['resources/unsubscribe', { eras: ['legacy'], isCacheable: false }],
  ['completion/complete', { eras: BOTH, isCacheable: false, isRelayed: true }],
  ['tasks/get', { eras: BOTH, isCacheable: false, named: 'taskId', isRelayed: true }],
  ['tasks/cancel', { eras: BOTH, isCacheable: false, named: 'taskId', isRelayed: true }],
  ['tasks/result', { eras: ['legacy'], isCacheable: false, isRelayed: true }],
  ['tasks/list', { eras: ['legacy'], isCacheable: false }],
  ['tasks/update', { eras: ['modern'], isCacheable: false, named: 'taskId', isRelayed: true }],
]);

/** "Resource not found": each code may be used in its era only. */
export const LEGACY_NOT_FOUND = -32002;
export const MODERN_NOT_FOUND = -32602;
