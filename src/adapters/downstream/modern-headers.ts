import type { Ask } from '../../gateway/ports.ts';
import { METHODS, MODERN_VERSION } from '../../protocol/eras.ts';
import * as headers from '../../protocol/headers.ts';
import { parameterHeaders } from '../../protocol/parameter-values.ts';
import { memberOf, textOf } from '../../protocol/spans.ts';

/** The headers that repeat what the body says (2026-07-28, basic/transports/streamable-http#request-metadata). */
export function modernHeaders(ask: Ask): readonly string[] {
  const { message, parameters } = ask;
  const standard = standardHeaders(ask);
  return parameters === undefined ? standard : [...standard, ...parameterHeaders(message, parameters)];
}

function standardHeaders({ message, name }: Ask): readonly string[] {
  const fixed = [headers.PROTOCOL_VERSION, MODERN_VERSION, headers.METHOD, message.method];
  const source = METHODS.get(message.method)?.named;
  const value = name ?? (source && textOf(message.bytes, memberOf(message.params, source)));
  return source === undefined || value === undefined
    ? fixed
    : [...fixed, headers.NAME, headers.encodeHeader(value)];
}
