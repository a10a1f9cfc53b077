import { formatProxyFault } from '@assay-mcp/kit/outbound';
import { toPrintable } from '@assay-mcp/kit/printable';
import { truncateText } from '@assay-mcp/kit/shorten';
import type { ConnectionFault } from '@assay-mcp/kit/platform/http-client';
import { getErrorCode } from '@assay-mcp/kit/platform/sqlite';
import type { EmbeddingFault } from './embedding-provider.ts';
import type { VectorFailure } from './vector-search.ts';

/** One or two sentences: what happened and what to do. */
export function formatEmbeddingFault(fault: EmbeddingFault): string {
  switch (fault.code) {
    case 'UNREACHABLE':
      return `The embedding service ${connectionText(fault.fault)}.`;
    case 'TIMED_OUT':
      return `The embedding service did not answer within ${fault.limitMs} ms.`;
    case 'STATUS':
      return statusText(fault);
    case 'ANSWER_TOO_LARGE':
      return `The embedding service answered with more than ${fault.maxBytes} bytes.`;
    case 'ANSWER_INVALID':
      return `The embedding service ${fault.problem}.`;
    case 'CANCELLED':
      return 'The request to the embedding service was cancelled.';
  }
}

/** Why a search used only words. */
export function formatVectorFailure(failure: VectorFailure): string {
  switch (failure.code) {
    case 'EMBEDDING_FAILED':
      return formatEmbeddingFault(failure.fault);
    case 'NO_VECTORS':
      return 'Nothing is embedded yet. Run index_repository.';
    case 'MODEL_CHANGED':
      return `The index was embedded with ${failure.indexed}, but ${failure.configured} is configured. Run index_repository.`;
    case 'DIMENSION_CHANGED':
      return `The index holds vectors of ${failure.indexed} numbers, but ${failure.model} now answers with ${failure.answered}. Run index_repository with force_reindex.`;
    case 'STORE_FAILED':
      return `Vectors are not available: ${failure.problem}.`;
  }
}

function connectionText(fault: ConnectionFault): string {
  switch (fault.code) {
    case 'CONNECTION_REFUSED':
      return 'refused the connection. Start it, or check ASSAY_CODEBASE_EMBEDDINGS_URL';
    case 'CONNECTION_TIMEOUT':
      return 'could not be connected to in time';
    case 'CONNECTION_CLOSED':
      return 'closed the connection';
    case 'HOST_UNKNOWN':
      return `has an unknown host name (${fault.error}). Check ASSAY_CODEBASE_EMBEDDINGS_URL`;
    case 'ADDRESS_NOT_ALLOWED':
      return `is at a ${fault.reaches.join(' and ')} address, which is not allowed`;
    case 'NETWORK_UNREACHABLE':
    case 'CERTIFICATE_INVALID':
    case 'TLS_FAILED':
    case 'CONNECTION_FAILED':
      return `could not be reached (${fault.error})`;
    case 'PROXY_UNREACHABLE':
    case 'PROXY_CREDENTIALS_REFUSED':
    case 'PROXY_REFUSED':
    case 'PROXY_NOT_ALLOWED':
    case 'PROXY_INVALID':
    case 'PROXY_TARGET_UNRESOLVED':
      return formatProxyFault(fault);
    case 'READING_FAILED':
      return `answered, but its answer could not be handled (${fault.error})`;
  }
}

function statusText({ status, text }: Extract<EmbeddingFault, { code: 'STATUS' }>): string {
  const quoted = text === '' ? '' : `: ${text}`;
  const answered = `The embedding service answered with status ${status}${quoted}`;
  const ended = /[.!?]$/.test(answered) ? answered : `${answered}.`;
  if (status === 401 || status === 403) return `${ended} Check ASSAY_CODEBASE_EMBEDDINGS_KEY.`;
  if (status === 404)
    return `${ended} Check ASSAY_CODEBASE_EMBEDDINGS_MODEL, and write the whole address in ASSAY_CODEBASE_EMBEDDINGS_URL, such as http://127.0.0.1:11434/api/embed or http://127.0.0.1:8000/v1/embeddings.`;
  return ended;
}

/** For an error of SQLite or PostgreSQL, which carries a code; undefined for a bug. */
export function formatStoreFault(error: unknown): string | undefined {
  const code = getErrorCode(error);
  if (!(error instanceof Error) || code === '') return undefined;
  return `Vectors could not be stored: ${toPrintable(truncateText(error.message, 200))} (${code}).`;
}
