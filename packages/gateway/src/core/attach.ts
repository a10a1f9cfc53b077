import { isJsonObject, parseObject } from '@assay-mcp/kit/json-object';
import type { ViewOptions } from './command-options.ts';

/*
 * How `assay stdio --attach` reaches the gateway: it upgrades a request at the socket of the home, sends an
 * `AttachRequest` as one line of JSON, and gets an `AttachAnswer` as one line. After that, both directions carry the
 * client's MCP messages, as over stdio. The only other line is RETIRING_LINE.
 */

export const ATTACH_TARGET = '/attach';
export const ATTACH_PROTOCOL = 'assay-attach-1';

/** Asks the gateway, at its socket only, to end once the requests in progress are answered. */
export const STOP_TARGET = '/stop';

/** Sent when the gateway is about to end because a newer version takes its place. */
export const RETIRING_LINE = '{"assay":"retiring"}';

/** What a process that attaches says of its client. */
export interface AttachRequest {
  /** The version of the program that attaches. */
  readonly version: string;
  readonly view: ViewOptions;
  /** The folder in which the client started it. Absolute. */
  readonly cwd: string;
  /** Its values of the variables that the config names; null if unset. */
  readonly variables: Readonly<Record<string, string | null>>;
}

export type AttachAnswer =
  /** `notes`: sentences for the log of the client. */
  | { readonly kind: 'attached'; readonly version: string; readonly notes: readonly string[] }
  /** The client needs a process of its own. `reason`: a sentence for its log. */
  | { readonly kind: 'alone'; readonly reason: string }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** Maximum size in bytes of the line with the request or the answer. */
export const MAX_ATTACH_BYTES: number = 1024 * 1024;

/** Returns undefined for an invalid request. */
export function parseAttachRequest(line: string): AttachRequest | undefined {
  const { version, view, cwd, variables } = parseObject(line);
  if (typeof version !== 'string' || typeof cwd !== 'string') return undefined;
  if (!isJsonObject(view) || !isJsonObject(variables)) return undefined;
  const { all, search, toolset } = view;
  const values = Object.entries(variables).filter(
    (pair): pair is [string, string | null] => typeof pair[1] === 'string' || pair[1] === null,
  );
  return {
    version,
    cwd,
    variables: Object.fromEntries(values),
    view: {
      ...(all === true && { all }),
      ...(search === true && { search }),
      ...(typeof toolset === 'string' && { toolset }),
    },
  };
}

/** Returns undefined for an invalid answer. */
export function parseAttachAnswer(line: string): AttachAnswer | undefined {
  const { kind, version, notes, reason, code, message } = parseObject(line);
  if (kind === 'attached' && typeof version === 'string' && Array.isArray(notes))
    return { kind, version, notes: notes.map(String) };
  if (kind === 'alone' && typeof reason === 'string') return { kind, reason };
  if (kind === 'refused' && typeof code === 'string' && typeof message === 'string')
    return { kind, code, message };
  return undefined;
}
