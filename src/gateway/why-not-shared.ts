import type { Refusal } from '../core/refusal.ts';
import { LOCAL } from '../core/subject.ts';
import type { Server } from './server.ts';

/**
 * Why a request may not go over the link that all share; undefined: it may. Where each signs in for itself that link is
 * the one of whoever runs Assay, and nobody acts in the name of another.
 */
export function whyNotShared(server: Server, subject: string): Refusal | undefined {
  if (subject === LOCAL.subject || !server.isPersonal) return undefined;
  return { code: 'AUTHORIZATION_NEEDED', server: server.spec.name, subject };
}
