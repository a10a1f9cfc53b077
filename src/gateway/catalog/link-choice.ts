import type { RequestMessage } from '../../protocol/message.ts';
import { SERVER_REQUESTS } from '../../protocol/server-requests.ts';
import { memberOf, rawOf } from '../../protocol/spans.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import { LOCAL } from '../../core/subject.ts';
import type { Era } from '../../protocol/eras.ts';
import type { ClientSession } from './client-session.ts';
import { startsProcess } from '../../core/sources/source-kinds.ts';
import type { Link, ClientProfile } from '../ports/link.ts';

/** Who asks, as far as the choice of a link goes. */
export interface LinkUser {
  readonly era: Era;
  /** Of a modern client, which says in each what it can do. */
  readonly message: RequestMessage | undefined;
  readonly subject: string;
  /** Of a legacy client. */
  readonly clientInfo: string | undefined;
  readonly session?: ClientSession | undefined;
}

/** The server that is asked; `sole` is there where this process has but one client. */
interface LinkTarget {
  readonly spec: ServerSpec;
  readonly sole: unknown;
  /** Whether each subject signs in there for itself. */
  readonly isPersonal: boolean;
}

/** On which link of a server a request goes. */
export type LinkChoice =
  | { readonly kind: 'shared' }
  /** One that all requests under this key share. */
  | { readonly kind: 'own'; readonly key: string; readonly profile: ClientProfile }
  /** One that is opened for this request alone. */
  | { readonly kind: 'once'; readonly profile: ClientProfile };

const SHARED: LinkChoice = { kind: 'shared' };

/**
 * What a legacy server may ask is settled when its link is opened, and on a line nothing tells to which request a question
 * belongs. So whoever can be asked gets a link of its own, wherever a link can be had (docs/adr/0019).
 */
export function linkChoice(who: LinkUser, whom: LinkTarget, link: Link): LinkChoice {
  const { spec, sole } = whom;
  const { era, correlatesServerRequests: tiesQuestions } = link;
  // The shared link is that of whoever runs Assay, and nobody acts in the name of another.
  const isForeign = who.subject !== LOCAL.subject && whom.isPersonal;
  if ((spec.isolation === 'shared' && !isForeign) || sole !== undefined) return SHARED;
  const { session, subject, message } = who;
  const isProcess = startsProcess(spec.transport);
  if (era === 'modern' && !isForeign && (!isProcess || session === undefined)) return SHARED;
  if (session !== undefined) return { kind: 'own', key: session.id, profile: session.profile };
  const profile =
    message !== undefined && who.era === 'modern'
      ? profileIn(message, subject)
      : { capabilities: '{}', clientInfo: who.clientInfo, subject };
  const { capabilities, clientInfo } = profile;
  if (isProcess || (!tiesQuestions && acceptsServerRequests(capabilities))) return { kind: 'once', profile };
  return { kind: 'own', key: `${subject}\n${clientInfo}\n${capabilities}`, profile };
}

/** JSON text of what a modern client says that it can do for servers. */
export function capabilitiesIn(message: RequestMessage): string {
  return inEnvelope(message, 'io.modelcontextprotocol/clientCapabilities') ?? '{}';
}

/** What a modern client says of itself in a request, for servers that are told only once. */
export function profileIn(message: RequestMessage, subject: string): ClientProfile {
  const clientInfo = inEnvelope(message, 'io.modelcontextprotocol/clientInfo');
  return { capabilities: capabilitiesIn(message), clientInfo, subject };
}

function inEnvelope({ bytes, params }: RequestMessage, key: string): string | undefined {
  const member = memberOf(memberOf(params, '_meta')?.object, key);
  return member === undefined || member.end - member.start > MOST_ENVELOPE_BYTES
    ? undefined
    : rawOf(bytes, member);
}

/** What a client says of itself is parsed, and kept as long as its link: a longer text counts as none. */
const MOST_ENVELOPE_BYTES = 64 * 1024;

/** Whether a client with these capabilities, as JSON text, can be asked; of one method, or of any. */
export function acceptsServerRequests(capabilities: string, method?: string): boolean {
  const declared = parsed(capabilities);
  const wanted = method === undefined ? [...SERVER_REQUESTS.values()] : [SERVER_REQUESTS.get(method)];
  return wanted.some((name) => name !== undefined && declared[name] !== undefined);
}

/** A client that cannot be read can do nothing. */
function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return {};
  }
}
