import type { Tool } from '../../../api/tool.ts';
import type { RestToolSpec } from '../../../core/sources/custom-tools.ts';

/** The request of a tool as shown to operators, without secrets. */
export function toRestFacts(spec: RestToolSpec, mask: (text: string) => string): Partial<Tool> {
  const { url, method, isMethodGiven, headers, auth, queryMapping, headerMapping, bodyType } = spec;
  const { filter, timeoutMs, maxBytes, outputValidation } = spec;
  const names = Object.keys(headers);
  return {
    url: mask(url),
    method,
    methodOrigin: isMethodGiven ? 'given' : 'default',
    ...(names.length > 0 && { headers: names }),
    ...(auth !== undefined && { auth: { type: auth.kind } }),
    ...(Object.keys(queryMapping).length > 0 && { queryMapping }),
    ...(Object.keys(headerMapping).length > 0 && { headerMapping }),
    bodyType,
    ...(filter !== undefined && { filter }),
    timeoutMs,
    maxBytes,
    outputValidation,
  };
}
