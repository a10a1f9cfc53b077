import type { RestToolSpec } from '../../../core/sources/custom-tools.ts';

/** The request of a tool as shown to operators, without secrets. */
export interface RestFacts {
  readonly url: string;
  readonly method: string;
  /** `default`: no method was given, so it is POST, and no hints are inferred from it. */
  readonly methodOrigin: 'given' | 'default';
  /** Names only. */
  readonly headers?: readonly string[] | undefined;
  readonly auth?: { readonly type: string } | undefined;
  readonly queryMapping?: Readonly<Record<string, string>> | undefined;
  readonly headerMapping?: Readonly<Record<string, string>> | undefined;
  readonly bodyType: RestToolSpec['bodyType'];
  readonly filter?: string | undefined;
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

export function restFactsOf(spec: RestToolSpec, mask: (text: string) => string): RestFacts {
  const { url, method, isMethodGiven, headers, auth, queryMapping, headerMapping, bodyType } = spec;
  const { filter, timeoutMs, maxBytes } = spec;
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
  };
}
