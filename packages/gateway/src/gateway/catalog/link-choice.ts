import type { RequestMessage } from '@assay-mcp/protocol/message';
import { SERVER_REQUESTS } from '@assay-mcp/protocol/server-requests';
import { findMember, readRawValue } from '@assay-mcp/protocol/spans';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { ResolvedHints } from '../../core/hints/resolve.ts';
import { computeTwinRights } from '../../core/guarantee.ts';
import type { TwinRights } from '@assay-mcp/sandbox/rights';
import { LOCAL_USER } from '../../core/subject.ts';
import type { Era } from '@assay-mcp/protocol/eras';
import type { AttachedClient, ClientSession } from './client-session.ts';
import { getSourceKind, startsProcess } from '../../core/sources/source-kinds.ts';
import type { Link, ClientProfile } from '../ports/link.ts';
import type { SharedRequests } from './shared-requests.ts';
import { parseObject } from '@assay-mcp/kit/json-object';

/** The caller, as far as it matters for the choice of a link. */
export interface LinkUser {
  readonly era: Era;
  /** Set for a modern client, which declares its capabilities in each request. */
  readonly message: RequestMessage | undefined;
  readonly subject: string;
  /** Set for a legacy client. */
  readonly clientInfo: string | undefined;
  readonly session?: ClientSession | undefined;
  /** What processes of a stateful server belong to, for a client without a session. Undefined: nothing. */
  readonly owner?: LinkOwner | undefined;
  /** Set for a client whose process only passes its messages on to this gateway. */
  readonly attached?: AttachedClient | undefined;
  /** Set for a call of a tool. */
  readonly tool?: { readonly hints: ResolvedHints } | undefined;
}

/** A client without a session: the connection of one without a token, else its token and the name that it gives. */
export interface LinkOwner {
  readonly kind: 'connection' | 'client';
  readonly key: string;
}

/** The key of the links that belong to a connection. */
export function toConnectionKey(id: string): string {
  return `connection ${id}`;
}

/** The target server. `sole` is set if this process has only one client. */
interface LinkTarget {
  readonly spec: ServerSpec;
  readonly sole: unknown;
  /** Whether each subject signs in there separately. */
  readonly isPersonal: boolean;
  /** Whether its process has ever requested something of its client. */
  readonly asksClient: boolean;
  readonly sharedRequests: Pick<SharedRequests, 'isOnlyUser' | 'isOffered'> | undefined;
}

/** The link that a request uses. */
export type LinkChoice =
  | { readonly kind: 'shared' }
  /** Shared by all requests with this key. */
  | (OfProcess & {
      readonly kind: 'own';
      readonly key: string;
      /** The entry with which it is opened, if not the server's own. */
      readonly spec?: ServerSpec;
      /** Whether it is kept until its client is gone, however long it is not used. */
      readonly isKept?: true;
      /** Set if its process keeps state for a client without a session. */
      readonly owner?: LinkOwner['kind'];
    })
  /** Opened for this request alone. */
  | (OfProcess & { readonly kind: 'once' });

interface OfProcess {
  readonly profile: ClientProfile;
  /** Set for the twin of a server. */
  readonly rights?: TwinRights;
  /** Whether all clients share it, so that its server can ask none of them. */
  readonly isForAll?: true;
}

const SHARED: LinkChoice = { kind: 'shared' };

/**
 * A legacy server learns the client's capabilities when its link is opened, and on stdio nothing tells to which request
 * a server request belongs. So each client that can be asked gets its own link where possible (docs/adr/0019).
 */
export function chooseLink(user: LinkUser, target: LinkTarget, link: Link): LinkChoice {
  const choice = serverChoice(user, target, link);
  const rights = isSandboxed(target.spec) && user.tool ? computeTwinRights(user.tool.hints) : undefined;
  if (rights === undefined) return choice;
  if (choice.kind === 'once') return { ...choice, rights };
  if (choice.kind === 'own') return { ...choice, key: toTwinKey(rights, choice.key), rights };
  const { session } = user;
  return target.sole === undefined || session === undefined
    ? { kind: 'own', key: toTwinKey(rights), profile: NOBODY, rights, isForAll: true }
    : { kind: 'own', key: toTwinKey(rights, session.id), profile: session.profile, rights };
}

const NOBODY: ClientProfile = { capabilities: '{}', clientInfo: undefined, subject: LOCAL_USER.subject };

function isSandboxed({ transport }: ServerSpec): boolean {
  return getSourceKind(transport).command(transport)?.sandbox !== undefined;
}

/** Whether all clients use the link. */
export function isForAll(choice: LinkChoice): boolean {
  return choice.kind === 'shared' || choice.isForAll === true;
}

/** The key of a twin: the one that all clients share, or that of the client whose own link has this key. */
export function toTwinKey(rights: TwinRights, ownKey = ''): string {
  return `twin ${rights}\n${ownKey}`;
}

function serverChoice(user: LinkUser, target: LinkTarget, link: Link): LinkChoice {
  const { spec, sole } = target;
  const { era, correlatesServerRequests: tiesQuestions } = link;
  // The shared link belongs to the operator, and no subject may act on behalf of another.
  const isForeign = user.subject !== LOCAL_USER.subject && target.isPersonal;
  const attached = attachedChoice(user, target, link);
  if (attached !== undefined) return attached;
  if ((spec.isolation === 'shared' && !isForeign) || sole !== undefined) return SHARED;
  const isProcess = startsProcess(spec.transport);
  const { session, subject, message } = user;
  const { owner } = user;
  if (owner !== undefined && session === undefined && message !== undefined && keepsStateForModern(spec))
    return { kind: 'own', key: owner.key, profile: readModernProfile(message, subject), owner: owner.kind };
  if (era === 'modern' && !isForeign && (!isProcess || session === undefined)) return SHARED;
  if (session !== undefined) return { kind: 'own', key: session.id, profile: session.profile };
  const profile =
    message !== undefined && user.era === 'modern'
      ? readModernProfile(message, subject)
      : { capabilities: '{}', clientInfo: user.clientInfo, subject };
  const { capabilities, clientInfo } = profile;
  if (isProcess || (!tiesQuestions && acceptsServerRequests(capabilities))) return { kind: 'once', profile };
  return { kind: 'own', key: `${subject}\n${clientInfo}\n${capabilities}`, profile };
}

/**
 * Whether a client without a session has a process of its own too. Assay's own code search keeps nothing between the
 * calls of such a client.
 */
function keepsStateForModern({ isolation, transport }: ServerSpec): boolean {
  return isolation === 'session' && startsProcess(transport) && !getSourceKind(transport).isConfined;
}

/**
 * The link of an attached client: its own where its variables make a difference, where all clients have one of their own,
 * and where it may be asked something in a process that cannot tell its clients apart. Called for each call, so the
 * client's profile is read only if it is needed.
 */
function attachedChoice(user: LinkUser, target: LinkTarget, link: Link): LinkChoice | undefined {
  const { attached, session, message, subject } = user;
  if (attached === undefined) return undefined;
  const spec = attached.specFor(target.spec);
  const isModern = link.era === 'modern';
  const isOwn = session !== undefined || keepsStateForModern(target.spec);
  const isShared = target.spec.isolation === 'shared' || (isModern && !isOwn);
  // A modern server asks in the result of a call.
  if (spec === undefined && isShared && (isModern || isSharedFor(user, attached.id, target))) return SHARED;
  const profile = session?.profile ?? (message === undefined ? NOBODY : readModernProfile(message, subject));
  return { kind: 'own', key: attached.id, profile, isKept: true, ...(spec && { spec }) };
}

/** Whether an attached client can use the shared process of a legacy server. */
function isSharedFor(
  { session, message }: LinkUser,
  clientId: string,
  { asksClient, sharedRequests }: LinkTarget,
): boolean {
  if (sharedRequests === undefined) return true;
  if (sharedRequests.isOffered) return !asksClient || sharedRequests.isOnlyUser(clientId);
  // The process was told of a client that answers nothing.
  const declared =
    session?.profile.capabilities ?? (message === undefined ? '{}' : readCapabilities(message));
  return !acceptsServerRequests(declared);
}

/** Client capabilities that a modern client declares in a request, as JSON text. */
export function readCapabilities(message: RequestMessage): string {
  return inEnvelope(message, 'io.modelcontextprotocol/clientCapabilities') ?? '{}';
}

/** A modern client's profile from a request, for servers that learn it only once. */
export function readModernProfile(message: RequestMessage, subject: string): ClientProfile {
  const clientInfo = inEnvelope(message, 'io.modelcontextprotocol/clientInfo');
  return { capabilities: readCapabilities(message), clientInfo, subject };
}

/** JSON text of a client's name and version, however its era declares them. */
export function getClientInfo(
  { era, clientInfo }: Pick<LinkUser, 'era' | 'clientInfo'>,
  message: RequestMessage,
): string | undefined {
  return era === 'modern' ? inEnvelope(message, 'io.modelcontextprotocol/clientInfo') : clientInfo;
}

function inEnvelope({ bytes, params }: RequestMessage, key: string): string | undefined {
  const member = findMember(findMember(params, '_meta')?.object, key);
  return member === undefined || member.end - member.start > MAX_ENVELOPE_BYTES
    ? undefined
    : readRawValue(bytes, member);
}

/** Client profiles are parsed, and kept as long as their link. Longer values are ignored. */
const MAX_ENVELOPE_BYTES = 64 * 1024;

/** Whether a client with these capabilities (JSON text) accepts this server request, or any if no method is given. */
export function acceptsServerRequests(capabilities: string, method?: string): boolean {
  const declared = parseObject(capabilities);
  const wanted = method === undefined ? [...SERVER_REQUESTS.values()] : [SERVER_REQUESTS.get(method)];
  return wanted.some((name) => name !== undefined && declared[name] !== undefined);
}
