import { quote } from '@assay-mcp/kit/printable';
import { CUSTOM_SERVER } from '../server-spec.ts';
import { type FieldError, fieldErrorsText } from '../field-error.ts';
import { INTERNAL, INVALID_PARAMS, type RefusalTable } from './refusal-row.ts';

/** Refusals about gateways, tools, modules and bundles that operators manage. */
export type SourceRefusal =
  | { readonly code: 'GATEWAY_EXISTS'; readonly name: string }
  | {
      readonly code: 'GATEWAY_INVALID';
      readonly name: string;
      /** `field`: a member of the request; empty for the name. */
      readonly faults: readonly { readonly field: string; readonly reason: string }[];
    }
  /** `field`: the read-only member; empty for the whole gateway. */
  | { readonly code: 'GATEWAY_READ_ONLY'; readonly name: string; readonly field: string }
  /** Its name now stands for another command or origin than the caller has seen. */
  | { readonly code: 'SERVER_CHANGED'; readonly name: string; readonly target: string }
  | { readonly code: 'TOOL_EXISTS'; readonly name: string }
  | {
      readonly code: 'TOOL_INVALID';
      readonly name: string;
      /** `field`: a member of the request; empty for the name. */
      readonly faults: readonly { readonly field: string; readonly reason: string }[];
    }
  /** `by`: where it is defined, as a phrase. */
  | { readonly code: 'TOOL_READ_ONLY'; readonly tool: string; readonly by: string }
  | { readonly code: 'MODULE_EXISTS'; readonly path: string }
  | {
      readonly code: 'MODULE_INVALID';
      readonly faults: readonly { readonly field: string; readonly reason: string }[];
    }
  | { readonly code: 'MODULE_UNKNOWN'; readonly path: string; readonly known: readonly string[] }
  | { readonly code: 'MODULE_READ_ONLY'; readonly path: string }
  | { readonly code: 'SECRET_UNKNOWN'; readonly name: string; readonly known: readonly string[] }
  /** `at`: JSON pointers into the bundle. */
  | { readonly code: 'BUNDLE_INVALID'; readonly fieldErrors: readonly FieldError[] }
  | { readonly code: 'BUNDLE_LOCKED' }
  /** `transport`: the server's transport, which is not a command. */
  | { readonly code: 'VERIFICATION_UNSUPPORTED'; readonly server: string; readonly transport: string }
  /** `server`: the server that is being verified. */
  | { readonly code: 'VERIFICATION_RUNNING'; readonly server: string }
  /** `reason`: sentences. */
  | { readonly code: 'VERIFICATION_FAILED'; readonly server: string; readonly reason: string };

export const SOURCE_REFUSALS: RefusalTable<SourceRefusal> = {
  GATEWAY_EXISTS: {
    reported: { rpc: INVALID_PARAMS, http: 409, exit: 'usage' },
    sentence: (r) =>
      `A gateway named ${quote(r.name)} already exists. Choose another name, or change or delete that one.`,
  },
  GATEWAY_INVALID: {
    reported: { rpc: INVALID_PARAMS, http: 422, exit: 'usage' },
    sentence: (r) => `The gateway ${quote(r.name)} cannot be created: ${faultsText(r.faults)}`,
  },
  GATEWAY_READ_ONLY: {
    reported: { rpc: INVALID_PARAMS, http: 409, exit: 'usage' },
    sentence: (r) =>
      r.name === CUSTOM_SERVER
        ? 'The gateway "local" contains your own tools: change them with PATCH /tools/{id}, remove them with DELETE /tools/{id} or DELETE /functions.'
        : `The gateway ${quote(r.name)}${r.field === '' ? '' : ` and its ${quote(r.field)}`} can only be changed in the config file.`,
  },
  SERVER_CHANGED: {
    reported: { rpc: INVALID_PARAMS, http: 409, exit: 'usage' },
    sentence: (r) =>
      `The server ${quote(r.name)} changed since you looked, and nothing was done: it now stands for ${quote(r.target)}. Look at it again before you decide whether to trust it.`,
  },
  TOOL_EXISTS: {
    reported: { rpc: INVALID_PARAMS, http: 409, exit: 'usage' },
    sentence: (r) =>
      `A tool named ${quote(r.name)} already exists. Choose another name, or change or delete that one.`,
  },
  TOOL_INVALID: {
    reported: { rpc: INVALID_PARAMS, http: 422, exit: 'usage' },
    sentence: (r) => `The tool ${quote(r.name)} cannot be created: ${faultsText(r.faults)}`,
  },
  TOOL_READ_ONLY: {
    reported: { rpc: INVALID_PARAMS, http: 409, exit: 'usage' },
    sentence: (r) =>
      `The tool ${quote(r.tool)} comes from ${r.by} and can only be changed or removed there. Here you can set how Assay presents and treats it, such as "annotations", "title" and "enabled".`,
  },
  MODULE_EXISTS: {
    reported: { rpc: INVALID_PARAMS, http: 409, exit: 'usage' },
    sentence: (r) => `The module ${quote(r.path)} has already been added.`,
  },
  MODULE_INVALID: {
    reported: { rpc: INVALID_PARAMS, http: 422, exit: 'usage' },
    sentence: (r) => `The module cannot be used: ${faultsText(r.faults)}`,
  },
  MODULE_UNKNOWN: {
    reported: { rpc: INVALID_PARAMS, http: 404, exit: 'usage' },
    sentence: (r) =>
      `There is no module ${quote(r.path)}.` +
      (r.known.length === 0 ? ' There are none.' : ` There are: ${r.known.map(quote).join(', ')}.`),
  },
  MODULE_READ_ONLY: {
    reported: { rpc: INVALID_PARAMS, http: 409, exit: 'usage' },
    sentence: (r) => `The module ${quote(r.path)} is defined in the config file. Remove it there.`,
  },
  SECRET_UNKNOWN: {
    reported: { rpc: INVALID_PARAMS, http: 404, exit: 'usage' },
    sentence: (r) =>
      `The secret ${quote(r.name)} is not stored.` +
      (r.known.length === 0 ? ' There are none.' : ` There are: ${r.known.map(quote).join(', ')}.`),
  },
  BUNDLE_INVALID: {
    reported: { rpc: INVALID_PARAMS, http: 422, exit: 'usage' },
    sentence: (r) =>
      `The bundle is not valid, and nothing of it was imported: ${fieldErrorsText(r.fieldErrors)}.`,
  },
  BUNDLE_LOCKED: {
    reported: { rpc: INVALID_PARAMS, http: 422, exit: 'usage' },
    sentence: () =>
      'The passphrase is wrong, or the secrets of the bundle were modified. Nothing was imported. To import it without its secrets, omit the passphrase.',
  },
  VERIFICATION_UNSUPPORTED: {
    reported: { rpc: INVALID_PARAMS, http: 422, exit: 'usage' },
    sentence: (r) =>
      `Server ${quote(r.server)} cannot be verified: ${UNVERIFIABLE[r.transport] ?? 'no command starts it'}. Only servers that Assay starts by a command can run in a sandbox.`,
  },
  VERIFICATION_RUNNING: {
    reported: { rpc: INVALID_PARAMS, http: 409, exit: 'unavailable' },
    sentence: (r) =>
      `Server ${quote(r.server)} is being verified. One server is verified at a time: wait until it is done.`,
  },
  VERIFICATION_FAILED: {
    reported: { rpc: INTERNAL, http: 502, exit: 'unavailable' },
    sentence: (r) => `Server ${quote(r.server)} could not be verified: ${quote(r.reason)}.`,
  },
};

/** Why a server cannot be verified, by transport. */
const UNVERIFIABLE: Readonly<Record<string, string>> = {
  http: 'it runs elsewhere, where its effects cannot be seen. Run `assay verify -- COMMAND` where its program is',
  openapi: 'its tools are requests to a remote API, whose effects cannot be seen',
  local: 'its tools are made by Assay itself',
  codebase: 'it is part of Assay, whose tests verify it',
};

function faultsText(faults: readonly { readonly field: string; readonly reason: string }[]): string {
  return faults.map(({ field, reason }) => (field === '' ? reason : `${field}: ${reason}`)).join(' ');
}
