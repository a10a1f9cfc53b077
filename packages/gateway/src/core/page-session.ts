import { OPERATOR, type Scope } from './subject.ts';

/** How long a sign-in link can be used. */
export const LINK_MS: number = 10 * 60_000;
/** A session ends this long after it was last used. */
export const IDLE_MS: number = 12 * 60 * 60_000;
/** A session ends this long after sign-in, however much it is used. */
export const SESSION_MS: number = 7 * 24 * 60 * 60_000;
/** The same for a session that a link opened with the scope `execute`. */
export const EXECUTE_SESSION_MS: number = 60 * 60_000;
/** Maximum number of open links, and of sessions of one credential; the oldest are dropped first. */
export const MAX_SESSIONS = 20;

/** A person who signs in with a link has access to the machine, so they get the scope `admin`. */
export const LINK_HOLDER: { readonly subject: string; readonly scopes: readonly Scope[] } = {
  subject: OPERATOR.subject,
  scopes: ['admin'],
};

/** The scopes that a link can give its session; `admin` always. */
export const LINK_SCOPES: readonly ['admin', 'execute'] = ['admin', 'execute'];

interface LinkedSession {
  readonly scopes: readonly Scope[];
  readonly credential: string;
}

/** Whether a link gave it `execute`. Only a gateway that no other machine reaches accepts such a link or session. */
export function isExecuteLinked({ scopes, credential }: LinkedSession): boolean {
  return credential === 'link' && scopes.includes('execute');
}

/** How long after sign-in a session ends. */
export function getSessionMs(session: LinkedSession): number {
  return isExecuteLinked(session) ? EXECUTE_SESSION_MS : SESSION_MS;
}

/** The path of the pages, to which a sign-in link points. */
export const PAGES_PATH = '/admin';

/** The code is in the fragment, which browsers never send, so no log, proxy or link preview sees it. */
export function buildSignInUrl(base: string, code: string): string {
  return `${base.replace(/\/$/, '')}${PAGES_PATH}/sign-in#code=${code}`;
}

/** The public id and the secret of a link or a session, as sent. */
export interface SessionParts {
  readonly id: string;
  readonly secret: string;
}

export function formatSession({ id, secret }: SessionParts): string {
  return `${id}.${secret}`;
}

const SHAPE = /^([0-9a-f]{12})\.([0-9A-Za-z]{43})$/;

export function parseSessionText(text: string): SessionParts | undefined {
  const [, id, secret] = SHAPE.exec(text) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}
