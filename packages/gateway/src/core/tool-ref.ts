import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Refusal } from './refusal.ts';

/** How people and models refer to a tool: by namespaced name (`server.tool`), by id of one definition, or by both. */
export interface ToolRef {
  readonly namespacedName?: string | undefined;
  readonly refId?: string | undefined;
}

const REF_ID = /^[0-9a-f]{32}$/;

export function formatNamespacedName(server: string, tool: string): string {
  return `${server}.${tool}`;
}

/** Parses a typed ref: a refId if it looks like one, else a namespaced name. */
export function parseToolRef(text: string): ToolRef {
  return REF_ID.test(text) ? { refId: text } : { namespacedName: text };
}

/** Validates a ref, an object or a string; `field` is its name in errors. PARAMS_INVALID if it names nothing. */
export function readToolRef(value: unknown, field: string): Result<ToolRef, Refusal> {
  const wrong = (reason: string): Result<never, Refusal> => err({ code: 'PARAMS_INVALID', field, reason });
  if (typeof value === 'string' && value !== '') return ok(parseToolRef(value));
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return wrong('it must be the name of a tool, or an object with namespacedName or refId');
  const { namespacedName, refId, ...others } = value as Readonly<Record<string, unknown>>;
  const [other] = Object.keys(others);
  if (other !== undefined) return wrong(`it has no member ${JSON.stringify(other)}`);
  const isText = (one: unknown): one is string | undefined =>
    one === undefined || (typeof one === 'string' && one !== '');
  if (!isText(namespacedName) || !isText(refId))
    return wrong('namespacedName and refId must be strings that are not empty');
  if (namespacedName === undefined && refId === undefined)
    return wrong('it must have namespacedName or refId');
  return ok({ ...(namespacedName && { namespacedName }), ...(refId && { refId }) });
}

/** Validates a list of refs; `field` is its name in errors. */
export function readToolRefs(values: readonly unknown[], field: string): Result<readonly ToolRef[], Refusal> {
  const refs: ToolRef[] = [];
  for (const [position, value] of values.entries()) {
    const ref = readToolRef(value, `${field}.${position}`);
    if (!ref.ok) return ref;
    refs.push(ref.value);
  }
  return ok(refs);
}

/** A ref in readable form. */
export function formatToolRef({ namespacedName, refId }: ToolRef): string {
  return namespacedName ?? `refId ${refId ?? ''}`;
}
