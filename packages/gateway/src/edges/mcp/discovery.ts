import type { IncomingMessage, ServerResponse } from 'node:http';
import { findMetadata, type ProtectedResource } from '../../core/protected-resource.ts';
import type { Settings } from '../../core/settings.ts';
import { answerCors, isPreflight, type CorsOptions } from './cors.ts';
import { findOriginFault } from './guard.ts';
import { answerMetadata } from './http-answer.ts';
import { answerOwnClient } from './own-client.ts';
import { answerNoSignIn, isDiscoveryPath } from './no-sign-in.ts';

interface DiscoveryOptions {
  readonly path: string;
  /** Undefined if no issuer is set. */
  readonly resource: ProtectedResource | undefined;
  readonly cors: CorsOptions;
  readonly settings: Pick<Settings, 'auth.publicUrl'>;
}

/**
 * Answers requests for sign-in metadata and for Assay as a client of others, which need no token; browser clients may read the documents too. Returns
 * false, without a response, for other paths and other origins.
 */
export function answerDiscovery(
  request: IncomingMessage,
  response: ServerResponse,
  { path, resource, cors, settings }: DiscoveryOptions,
): boolean {
  const { method = '', headers } = request;
  const isDocument =
    resource === undefined
      ? isDiscoveryPath(path)
      : findMetadata(path, headers.host ?? '', resource) !== undefined;
  const isRead = method === 'GET' || method === 'HEAD' || isPreflight(request);
  const isShared = isDocument && isRead;
  if (isShared && answerCors(request, response, cors)) return true;
  const allowed = isShared ? cors.allowedOrigins : undefined;
  if (findOriginFault(request, cors.isLocal(request), allowed) !== undefined) return false;
  if (answerOwnClient(request, response, { path, publicUrl: settings['auth.publicUrl'] })) return true;
  return resource === undefined
    ? answerNoSignIn(request, response, path)
    : answerMetadata(request, response, { path, resource });
}
