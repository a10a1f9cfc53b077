import { quote } from '@assay-mcp/kit/printable';
import { formatCount } from '@assay-mcp/kit/counted';
import { INVALID_PARAMS, type RefusalTable } from './refusal-row.ts';

/** Refusals about toolsets, references to tools, and notes. */
export type ToolsetRefusal =
  | { readonly code: 'TOOLSET_UNKNOWN'; readonly name: string; readonly known: readonly string[] }
  | { readonly code: 'TOOLSET_EXISTS'; readonly name: string }
  /** `toolset`: made by an operator. Undefined if models may not change any toolset. */
  | { readonly code: 'TOOLSET_PROTECTED'; readonly toolset: string | undefined }
  | { readonly code: 'TOOLSETS_FULL'; readonly limit: number }
  | { readonly code: 'TOOLSETS_TOO_LARGE'; readonly limitBytes: number }
  | { readonly code: 'TOOLSET_FULL'; readonly toolset: string; readonly limit: number }
  /** Of this many other sessions. Undefined: of all that have not equipped one themselves. */
  | {
      readonly code: 'TOOLSET_EQUIPPED';
      readonly toolset: string;
      readonly sessions: number | undefined;
      /** An operator may repeat the request so that it also unequips the toolset. */
      readonly isConfirmable?: true;
    }
  | { readonly code: 'TOOLSET_NOT_EQUIPPED' }
  | { readonly code: 'TOOL_NOT_IN_TOOLSET'; readonly tool: string; readonly toolset: string }
  | {
      readonly code: 'REF_UNKNOWN';
      readonly ref: string;
      /** The most similar tool name. */
      readonly nearest?: string;
      /** Further unknown refs of the same request. */
      readonly others?: readonly UnknownRef[];
    }
  | { readonly code: 'REF_AMBIGUOUS'; readonly ref: string; readonly servers: readonly string[] }
  | { readonly code: 'REF_DISAGREES'; readonly namespacedName: string; readonly refId: string }
  | { readonly code: 'NOTE_EXISTS'; readonly tool: string; readonly note: string }
  | { readonly code: 'NOTE_ACCEPTED'; readonly tool: string; readonly note: string }
  | { readonly code: 'NOTE_UNKNOWN'; readonly tool: string; readonly note: string }
  | { readonly code: 'NOTES_FULL'; readonly tool: string; readonly limit: number }
  /** `at`: a JSON pointer to the hints, if they came in a document. */
  | { readonly code: 'HINTS_CONTRADICT'; readonly tool: string; readonly at?: string };

/** A reference that matches no tool. */
export type UnknownRef = Pick<Extract<ToolsetRefusal, { code: 'REF_UNKNOWN' }>, 'ref' | 'nearest'>;

export const TOOLSET_REFUSALS: RefusalTable<ToolsetRefusal> = {
  TOOLSET_UNKNOWN: {
    reported: { rpc: INVALID_PARAMS, http: 404, exit: 'usage' },
    sentence: (r) =>
      `Unknown toolset ${quote(r.name)}.` +
      (r.known.length === 0 ? ' There are none yet.' : ` There are: ${r.known.map(quote).join(', ')}.`),
  },
  TOOLSET_EXISTS: {
    reported: { rpc: INVALID_PARAMS, http: 409, exit: 'usage' },
    sentence: (r) =>
      `A toolset named ${quote(r.name)} already exists. Choose another name, or change or delete that one.`,
  },
  TOOLSET_PROTECTED: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 403, exit: 'usage' },
    sentence: (r) =>
      r.toolset === undefined
        ? 'Models may not create, change or delete toolsets here (toolsets.modelsMayChange is none). Equip one of those that list-saved-toolsets shows, or ask an operator for another.'
        : `An operator made the toolset ${quote(r.toolset)}, and models may not change, delete or annotate it. Build one of your own with build-toolset, or ask the operator to make the change, or to set toolsets.modelsMayChange to all.`,
  },
  TOOLSETS_FULL: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'usage' },
    sentence: (r) =>
      `The maximum of ${r.limit} toolsets is reached. Delete one first, with delete-toolset or \`assay toolset delete NAME\`.`,
  },
  TOOLSETS_TOO_LARGE: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'usage' },
    sentence: (r) =>
      `Toolsets and notes by models would take up more than ${r.limitBytes} bytes in all. Delete a toolset first, with delete-toolset or \`assay toolset delete NAME\`, or name tools without their refId.`,
  },
  TOOLSET_FULL: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'usage' },
    sentence: (r) => `The toolset ${quote(r.toolset)} would have more than ${r.limit} tools.`,
  },
  TOOLSET_EQUIPPED: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'usage' },
    sentence: (r) =>
      r.isConfirmable === true
        ? `The toolset ${quote(r.toolset)} is equipped in ${formatCount(r.sessions ?? 0, 'session')}, which would have none without it. To delete it nevertheless, choose "Delete anyway" on the admin pages, or add ?unequip=true to the request.`
        : `The toolset ${quote(r.toolset)} is equipped ${r.sessions === undefined ? 'by an operator, for all clients' : `in ${formatCount(r.sessions, 'other session')}`}, so a model may not delete it. An operator can, with \`assay toolset delete ${quote(r.toolset)}\`.`,
  },
  TOOLSET_NOT_EQUIPPED: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'usage' },
    sentence: () =>
      'No toolset is equipped. Equip one first: with "equip-toolset" in configuration mode, or with `assay toolset equip NAME`.',
  },
  TOOL_NOT_IN_TOOLSET: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 404, exit: 'usage' },
    sentence: (r) => `The tool ${quote(r.tool)} is not in the toolset ${quote(r.toolset)}.`,
  },
  REF_UNKNOWN: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 422, exit: 'usage' },
    sentence: (r) =>
      [r, ...(r.others ?? [])]
        .map(
          ({ ref, nearest }) =>
            `Unknown tool ${quote(ref)}.` + (nearest === undefined ? '' : ` Did you mean ${quote(nearest)}?`),
        )
        .join(' ') + ' Refer to a tool as "server.tool" or by its refId.',
  },
  REF_AMBIGUOUS: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 422, exit: 'usage' },
    sentence: (r) =>
      `The ref ${quote(r.ref)} is ambiguous: the servers ${r.servers.map(quote).join(', ')} each have such a tool. Use a refId.`,
  },
  REF_DISAGREES: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 422, exit: 'usage' },
    sentence: (r) =>
      `The refId ${quote(r.refId)} does not match the current definition of ${quote(r.namespacedName)}. Give only one of the two.`,
  },
  NOTE_EXISTS: {
    reported: { rpc: INVALID_PARAMS, http: 409, exit: 'usage' },
    sentence: (r) =>
      `The tool ${quote(r.tool)} already has a note ${quote(r.note)}. Edit that note, or choose another name.`,
  },
  NOTE_ACCEPTED: {
    reported: { rpc: INVALID_PARAMS, http: 409, exit: 'usage' },
    sentence: (r) =>
      `The note ${quote(r.note)} on the tool ${quote(r.tool)} is not held for review. Edit or delete it instead.`,
  },
  NOTE_UNKNOWN: {
    reported: { rpc: INVALID_PARAMS, http: 404, exit: 'usage' },
    sentence: (r) => `The tool ${quote(r.tool)} has no note ${quote(r.note)} in that toolset.`,
  },
  NOTES_FULL: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: 'usage' },
    sentence: (r) =>
      `The tool ${quote(r.tool)} would exceed the maximum of ${r.limit} notes. An operator can remove some with \`assay notes delete\`.`,
  },
  HINTS_CONTRADICT: {
    reported: { rpc: INVALID_PARAMS, http: 422, exit: 'usage' },
    sentence: (r) =>
      `Together with the hints from its source, this would give ${quote(r.tool)} both readOnlyHint true and destructiveHint true. A read-only tool cannot be destructive: set one of them to false. Defaults do not count.`,
  },
};
