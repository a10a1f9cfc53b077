import { APPROVAL_SENTENCES } from './approval-sentences.ts';
import { bounded } from './bounded-refusal.ts';
import { causeText } from './cause-text.ts';
import { counted } from './counted.ts';
import { sentCallText } from './policy/reason-text.ts';
import { printable } from './printable.ts';
import type { FieldError, Refusal, RefusalCode } from './refusal.ts';
import { gapRemedy, gapText } from './sandbox.ts';
import { denialRule, denialText } from './sandbox-denial.ts';
import { CUSTOM_SERVER } from './server-spec.ts';
import { STORE_SENTENCES } from './store-refusal.ts';

/** One or two sentences: what happened, why, and what to do. Never a secret, never unescaped upstream text. */
export function sentenceOf(refusal: Refusal): string {
  return printable(SENTENCES[refusal.code](bounded(refusal) as never));
}

/** `config_file` as readable words. */
export function inWords(value: string): string {
  return value.replaceAll('_', ' ');
}

type Sentences = { [C in RefusalCode]: (refusal: Extract<Refusal, { code: C }>) => string };

const SENTENCES: Sentences = {
  MESSAGE_NOT_JSON: (r) => `Parse error: ${r.reason}. Send one JSON-RPC 2.0 message in UTF-8.`,
  MESSAGE_INVALID: (r) => `Invalid request: ${r.reason}.`,
  MESSAGE_TOO_LARGE: (r) =>
    `The message is larger than ${r.limitBytes} bytes. Send less, or raise ASSAY_MAX_BODY_BYTES.`,
  BODIES_FULL: (r) =>
    `The bodies of requests in progress have reached ${r.limitBytes} bytes in total. The request was not carried out; retry it in ${r.waitSeconds} s.`,
  METHOD_UNKNOWN: (r) => `Method not found: ${quote(r.method)}.`,
  PARAMS_INVALID: (r) => `Invalid params: ${r.field}: ${r.reason}.`,
  ENVELOPE_INVALID: (r) => `Invalid params: ${r.field}: ${r.reason}.`,
  HEADER_MISMATCH: (r) => `Header mismatch: ${r.header}: ${r.reason}.`,
  PROTOCOL_UNSUPPORTED: (r) =>
    `Unsupported protocol version ${quote(r.requested)}. Supported: ${r.supported.join(', ')}.`,
  SESSION_MISSING: () =>
    'The Mcp-Session-Id header is missing. Send "initialize" first, or speak revision 2026-07-28.',
  SESSION_UNKNOWN: () => 'Unknown session: it has ended, or never existed. Send "initialize" again.',
  EVENT_UNKNOWN: () =>
    'The Last-Event-ID does not match any event that this session still keeps. Missed messages cannot be recovered; open a stream without that header.',
  CONNECTION_LIMIT: (r) =>
    `All ${r.limit} connections are in use (limits.connections). Close one of yours, or try again later.`,
  SESSION_LIMIT: () => 'All sessions are in use. End one with DELETE, or try again later.',
  TARGET_INVALID: (r) =>
    `The request target cannot be used: ${r.reason}. Send a plain path of this server, such as /mcp.`,
  HEADER_INVALID: (r) => `The ${r.header} header is not valid: ${r.reason}.`,
  HOST_FORBIDDEN: (r) =>
    `The Host header ${quote(r.host)} does not name this server. Use 127.0.0.1, localhost or the address it listens on.`,
  ORIGIN_FORBIDDEN: (r) =>
    r.origin === ''
      ? 'The session cookie is accepted only from the admin pages themselves. Other programs send a token.'
      : `Requests from the origin ${quote(r.origin)} are not allowed.`,
  TOKEN_REQUIRED: (r) =>
    r.reason === undefined
      ? 'A valid token is needed: send the header "Authorization: Bearer <token>". `assay token create NAME` makes one.'
      : `The token is not valid: ${r.reason}. Send a valid one in the header "Authorization: Bearer <token>".`,
  LINK_UNUSABLE: () => 'This sign-in link has expired or was used. Create another with `assay token link`.',
  ISSUER_UNAVAILABLE: (r) =>
    `The token cannot be verified now: the keys of its issuer ${quote(r.issuer)} could not be fetched. Try again in ${r.waitSeconds} s.`,
  HTTP_METHOD_UNKNOWN: (r) =>
    `HTTP method ${quote(r.method)} is not allowed here. Allowed: ${r.allowed}${r.allowed === 'POST' ? '; with an Mcp-Session-Id of an older revision also GET and DELETE' : ''}.`,
  MEDIA_TYPE_UNKNOWN: (r) =>
    r.type === ''
      ? 'The Content-Type header is missing. Send the body with "Content-Type: application/json".'
      : `Content-Type ${quote(r.type)} is not supported. Send the body as JSON, with "Content-Type: application/json".`,
  NOT_ACCEPTABLE: () =>
    'The Accept header allows neither application/json nor text/event-stream. Accept both.',
  ENDPOINT_UNKNOWN: (r) => `There is no endpoint ${quote(r.path)}. Known endpoints: ${r.known.join(', ')}.`,
  TOOL_UNKNOWN: (r) => `Unknown tool ${quote(r.name)}. "tools/list" or \`assay tools\` lists all tools.`,
  NAME_AMBIGUOUS: (r) => `The name ${quote(r.name)} is ambiguous. Use one of: ${r.candidates.join(', ')}.`,
  TOOL_WITHHELD: (r) => `The tool ${quote(r.name)} is withheld: ${r.reason}.`,
  PROMPT_UNKNOWN: (r) => `Unknown prompt ${quote(r.name)}. "prompts/list" lists all prompts.`,
  RESOURCE_UNKNOWN: (r) => `No server offers the resource ${quote(r.uri)}.`,
  TASK_UNKNOWN: (r) =>
    `You have no task ${quote(r.taskId)} at this endpoint. Use the id that came with the task, with the same token and endpoint.`,
  TASK_UNSUPPORTED: (r) => `The tool ${quote(r.name)} cannot be run as a task. Call it without "task".`,
  TASK_REQUIRED: (r) =>
    `The tool ${quote(r.name)} runs only as a task of revision 2025-11-25, which clients of other revisions cannot ask for. Call it through a client of that revision.`,
  CAPABILITY_MISSING: (r) =>
    `Missing required client capability. Declare with each request: ${JSON.stringify(r.requiredCapabilities)}.`,
  SUBSCRIPTION_UNSUPPORTED: (r) =>
    `Server ${quote(r.server)} does not support subscriptions to the resource ${quote(r.uri)}. Read it again when you need it.`,
  SUBSCRIPTION_LIMIT: (r) =>
    `This client would exceed the maximum of ${r.limit} resource subscriptions. End some first.`,
  EVENT_STREAM_LIMIT: (r) =>
    `This caller has ${r.limit} streams of /events open, the maximum. Close one, or use one stream for several readers.`,
  CURSOR_INVALID: () => 'The cursor is no longer valid. Start the list again, without a cursor.',
  SERVER_UNAVAILABLE: (r) =>
    `Server ${quote(r.server)} is not available: ${causeText(r.cause)}.${sentCallText(r.sent)}`,
  SERVER_MESSAGE_INVALID: (r) =>
    `Server ${quote(r.server)} sent an ambiguous response, which was not relayed: ${r.reason}. JSON readers would disagree on its content. The call may have had its effect; report this to the author of the server.`,
  SERVER_ENDED: (r) =>
    `Server ${quote(r.server)} ended before it responded: ${causeText(r.cause)}.${sentCallText(r.sent)}`,
  SANDBOX_UNAVAILABLE: (r) =>
    `The call was not sent: the tool is read-only, and server ${quote(r.server)} cannot be confined to reading, because ${gapText(r.gap)}. ${gapRemedy(r.gap)}`,
  SANDBOX_DENIED: (r) =>
    `The sandbox stopped tool ${quote(r.tool)} of server ${quote(r.server)} from ${denialText(r.denial)}: ${denialRule(r.denial, r.rights)}. Do not repeat the call. If the tool has to do this, its operator can override its hints.`,
  SERVER_UNREACHED: (r) =>
    `Server ${quote(r.server)} could not be reached: ${causeText(r.cause)}. The request was not carried out.`,
  SERVER_TIMEOUT: (r) =>
    `Server ${quote(r.server)} sent neither a result nor progress for ${r.limitMs} ms, so the call was cancelled.${sentCallText(r.sent)} To allow more time, set "timeoutMs".`,
  SERVER_ASKS: (r) => `Server ${quote(r.server)} asks for input in the middle of the call, ${r.reason}.`,
  QUESTION_UNANSWERED: (r) =>
    `Server ${quote(r.server)} asked ${quote(r.method)} in the middle of the call, and the client did not answer it: ${r.reason}.`,
  CLIENT_SILENT: (r) => `The request of the server was not answered: ${r.reason}.`,
  STATE_INVALID: (r) =>
    `Invalid params: params.requestState: ${r.reason}. Send the request again without it to start over.`,
  ...APPROVAL_SENTENCES,
  ...STORE_SENTENCES,
  CALL_EXPIRED: () =>
    'The call that waited for this answer has ended: it was already answered, took too long, or its server is gone. Send the request again without requestState to start over.',
  CALL_ELSEWHERE: () =>
    'The call that waits for this answer belongs to another Assay process. Send the retry to that process, or send the request again without requestState.',
  CANCELLED: () => 'The client cancelled the request.',
  SHUTTING_DOWN: () => 'Assay is shutting down. Try again after it has restarted.',
  INTERNAL: () => 'Internal error; see the log of Assay for details. The call may have had its effect.',
  CONFIG_ABSENT: (r) =>
    `There is no config file ${quote(r.path)}. Run \`assay\` without arguments to get started.`,
  CONFIG_UNREADABLE: (r) => `The config file ${quote(r.path)} cannot be read: ${r.reason}.`,
  CONFIG_INVALID: (r) => `The config file ${quote(r.path)} is not valid: ${r.reason}.`,
  PATH_UNSAFE: (r) =>
    `Others could change ${quote(r.path)}, and with it what Assay runs: ${pathFaultPhrase(r)}.`,
  SETTING_INVALID: (r) => `The setting ${r.name} is not valid: ${r.reason}.`,
  ADDRESS_NEEDS_TOKEN: (r) =>
    `Listening on ${quote(r.host)} lets other machines connect, so a token is required: create one with \`assay token create NAME\`, or set ASSAY_TOKEN to a secret of at least 16 characters (shorter ones are rejected), or set auth.issuer. Or use --host 127.0.0.1.`,
  ADDRESS_UNUSABLE: (r) => `Cannot listen on ${r.address}: ${r.reason}.`,
  ARGUMENTS_INVALID: (r) =>
    `The arguments are not valid: ${r.field === undefined ? '' : `${r.field}: `}${r.reason}.`,
  SERVERS_ABSENT: (r) => `The config file ${quote(r.path)} does not contain a usable server.`,
  TOKEN_EXISTS: (r) =>
    `A token named ${quote(r.name)} already exists. Choose another name, or revoke that one.`,
  LABELS_UNKNOWN: (r) =>
    `The caller ${quote(r.subject)} has no labels. \`assay policy labels\` lists all who do.`,
  CALL_UNKNOWN: (r) =>
    `No recorded call has the id ${quote(String(r.id))}. It may have been removed by age; \`assay activity\` lists the latest.`,
  TOKEN_UNKNOWN: (r) => `No valid token is named ${quote(r.name)}. \`assay token list\` lists all tokens.`,
  SCOPE_MISSING: (r) =>
    r.scope === 'execute'
      ? 'The token lacks the scope "execute", which is needed to add commands, modules and local documents. `assay token create NAME --scope admin,execute` makes one that has it.'
      : `The token lacks the scope ${quote(r.scope)}. \`assay token create NAME --scope ${r.scope}\` creates one that has it.`,
  TOO_MANY_FAILURES: (r) => `Too many invalid tokens were sent. Try again in ${r.waitSeconds} s.`,
  CLIENT_BUSY: (r) =>
    `This client has reached the maximum of ${r.limit} requests in progress. Wait for responses, or raise limits.requestsPerClient.`,
  SERVER_BUSY: (r) =>
    `Server ${quote(r.server)} is busy: ${causeText(r.cause)}. The request was not carried out; try again later.`,
  CLIENT_UNKNOWN: (r) =>
    `Unknown client ${quote(r.name)}. Known clients: ${r.known.join(', ')}. You can also import from a file.`,
  CLIENT_ABSENT: (r) =>
    `${r.client} does not seem to be installed: the folder ${quote(r.folder)} does not exist. Start it once, or use --force to write the file anyway.`,
  CLIENT_NEEDS_COMMAND: (r) =>
    `${r.client} supports only commands in its config file, not URLs. Omit --http: the client then starts \`assay stdio\`, which joins the same servers.`,
  ENTRY_EXISTS: (r) =>
    `The file ${quote(r.path)} already has another server named ${quote(r.name)}. Choose another name with --name, or replace that server with --force.`,
  NOTHING_FOUND: (r) =>
    `No MCP server was found. Looked in: ${r.places.map(quote).join(', ')}.` +
    (r.projects.length === 0
      ? ''
      : ` Servers were found with --project ${r.projects.map(quote).join(' or ')}.`),
  NOTHING_TO_UNDO: (r) => `Nothing to undo: Assay has not written to ${quote(r.path)}.`,
  FILE_UNREADABLE: (r) => `The file ${quote(r.path)} cannot be read: ${r.reason}.`,
  FILE_UNWRITABLE: (r) => `The file ${quote(r.path)} cannot be written: ${r.reason}.`,
  SERVER_UNKNOWN: (r) =>
    `The config has no server named ${quote(r.name)}.` +
    (r.known.length === 0 ? '' : ` There are: ${r.known.map(quote).join(', ')}.`),
  AUTHORIZATION_NEEDED: (r) =>
    `Server ${quote(r.server)} cannot be used: ${causeText({ ...r, code: 'SIGN_IN_NEEDED' })}.`,
  AUTHORIZATION_FAILED: (r) => `Server ${quote(r.server)} was not authorized: ${r.reason}.`,
  AUTHORIZATION_UNKNOWN: (r) =>
    `There is no sign-in to server ${quote(r.server)} for ${quote(r.subject)}. \`assay auth --list\` lists all sign-ins.`,
  KEY_UNUSABLE: (r) => `The encryption key in ${r.place} cannot be used: ${r.reason}.`,
  TOOLSET_UNKNOWN: (r) =>
    `Unknown toolset ${quote(r.name)}.` +
    (r.known.length === 0 ? ' There are none yet.' : ` There are: ${r.known.map(quote).join(', ')}.`),
  TOOLSET_EXISTS: (r) =>
    `A toolset named ${quote(r.name)} already exists. Choose another name, or change or delete that one.`,
  TOOLSET_PROTECTED: (r) =>
    r.toolset === undefined
      ? 'Models may not create, change or delete toolsets here (toolsets.modelsMayChange is none). Equip one of those that list-saved-toolsets shows, or ask an operator for another.'
      : `An operator made the toolset ${quote(r.toolset)}, and models may not change, delete or annotate it. Build one of your own with build-toolset, or ask the operator to make the change, or to set toolsets.modelsMayChange to all.`,
  TOOLSETS_FULL: (r) =>
    `The maximum of ${r.limit} toolsets is reached. Delete one first, with delete-toolset or \`assay toolset delete NAME\`.`,
  TOOLSETS_TOO_LARGE: (r) =>
    `Toolsets and notes by models would take up more than ${r.limitBytes} bytes in all. Delete a toolset first, with delete-toolset or \`assay toolset delete NAME\`, or name tools without their refId.`,
  TOOLSET_FULL: (r) => `The toolset ${quote(r.toolset)} would have more than ${r.limit} tools.`,
  TOOLSET_EQUIPPED: (r) =>
    r.isConfirmable === true
      ? `The toolset ${quote(r.toolset)} is equipped in ${counted(r.sessions ?? 0, 'session')}, which would have none without it. To delete it nevertheless, choose "Delete anyway" on the admin pages, or add ?unequip=true to the request.`
      : `The toolset ${quote(r.toolset)} is equipped ${r.sessions === undefined ? 'by an operator, for all clients' : `in ${counted(r.sessions, 'other session')}`}, so a model may not delete it. An operator can, with \`assay toolset delete ${quote(r.toolset)}\`.`,
  TOOLSET_NOT_EQUIPPED: () =>
    'No toolset is equipped. Equip one first: with "equip-toolset" in configuration mode, or with `assay toolset equip NAME`.',
  TOOL_NOT_IN_TOOLSET: (r) => `The tool ${quote(r.tool)} is not in the toolset ${quote(r.toolset)}.`,
  NOTE_EXISTS: (r) =>
    `The tool ${quote(r.tool)} already has a note ${quote(r.note)}. Edit that note, or choose another name.`,
  NOTE_ACCEPTED: (r) =>
    `The note ${quote(r.note)} on the tool ${quote(r.tool)} is not held for review. Edit or delete it instead.`,
  EXECUTE_OFF: () =>
    'Commands, modules and local documents can be added over the API only if Assay listens on loopback. Add it to the config file instead.',
  VERIFICATION_UNSUPPORTED: (r) =>
    `Server ${quote(r.server)} cannot be verified: ${UNVERIFIABLE[r.transport] ?? 'no command starts it'}. Only servers that Assay starts by a command can run in a sandbox.`,
  VERIFICATION_RUNNING: (r) =>
    `Server ${quote(r.server)} is being verified. One server is verified at a time: wait until it is done.`,
  VERIFICATION_FAILED: (r) => `Server ${quote(r.server)} could not be verified: ${quote(r.reason)}.`,
  GATEWAY_EXISTS: (r) =>
    `A gateway named ${quote(r.name)} already exists. Choose another name, or change or delete that one.`,
  GATEWAY_INVALID: (r) => `The gateway ${quote(r.name)} cannot be created: ${faultsText(r.faults)}`,
  GATEWAY_READ_ONLY: (r) =>
    r.name === CUSTOM_SERVER
      ? 'The gateway "local" contains your own tools: change them with PATCH /tools/{id}, remove them with DELETE /tools/{id} or DELETE /functions.'
      : `The gateway ${quote(r.name)}${r.field === '' ? '' : ` and its ${quote(r.field)}`} can only be changed in the config file.`,
  TOOL_EXISTS: (r) =>
    `A tool named ${quote(r.name)} already exists. Choose another name, or change or delete that one.`,
  TOOL_INVALID: (r) => `The tool ${quote(r.name)} cannot be created: ${faultsText(r.faults)}`,
  TOOL_READ_ONLY: (r) =>
    `The tool ${quote(r.tool)} comes from ${r.by} and can only be changed or removed there. Here you can set how Assay presents and treats it, such as "annotations", "title" and "enabled".`,
  MODULE_EXISTS: (r) => `The module ${quote(r.path)} has already been added.`,
  MODULE_INVALID: (r) => `The module cannot be used: ${faultsText(r.faults)}`,
  MODULE_UNKNOWN: (r) =>
    `There is no module ${quote(r.path)}.` +
    (r.known.length === 0 ? ' There are none.' : ` There are: ${r.known.map(quote).join(', ')}.`),
  MODULE_READ_ONLY: (r) => `The module ${quote(r.path)} is defined in the config file. Remove it there.`,
  BUNDLE_INVALID: (r) =>
    `The bundle is not valid, and nothing of it was imported: ${fieldErrorsIn(r.fieldErrors)}.`,
  BUNDLE_LOCKED: () =>
    'The passphrase is wrong, or the secrets of the bundle were modified. Nothing was imported. To import it without its secrets, omit the passphrase.',
  TOOL_DISABLED: (r) =>
    `The tool ${quote(r.tool)} is disabled by an operator, who can enable it again: PATCH /tools/{id} with {"enabled": true}.`,
  HINTS_CONTRADICT: (r) =>
    `Together with the hints from its source, this would give ${quote(r.tool)} both readOnlyHint true and destructiveHint true. A read-only tool cannot be destructive: set one of them to false. Defaults do not count.`,
  TOOL_CHANGED: (r) =>
    r.toolset === undefined
      ? `The call of ${quote(r.tool)} was not sent and had no effect: while it waited, the definition of the tool changed or its server started again. List the tools, then send the call again if it still fits.`
      : `The tool ${quote(r.tool)} is withheld: its definition has changed since the toolset ${quote(r.toolset)} pinned it. An operator can review the change with \`assay toolset review ${r.toolset}\` and accept it with \`assay toolset accept\`.`,
  TOOL_DRIFTED: (r) =>
    `The tool ${quote(r.tool)} is withheld: its definition has changed in a dangerous way. An operator can review and accept the change with \`assay review\`.`,
  REF_UNKNOWN: (r) =>
    [r, ...(r.others ?? [])]
      .map(
        ({ ref, nearest }) =>
          `Unknown tool ${quote(ref)}.` + (nearest === undefined ? '' : ` Did you mean ${quote(nearest)}?`),
      )
      .join(' ') + ' Refer to a tool as "server.tool" or by its refId.',
  REF_AMBIGUOUS: (r) =>
    `The ref ${quote(r.ref)} is ambiguous: the servers ${r.servers.map(quote).join(', ')} each have such a tool. Use a refId.`,
  REF_DISAGREES: (r) =>
    `The refId ${quote(r.refId)} does not match the current definition of ${quote(r.namespacedName)}. Give only one of the two.`,
  CALL_TOOL_REQUIRED: (r) =>
    `The tool ${quote(r.tool)} cannot be called directly here: call "call_tool" with {"name": ${JSON.stringify(r.tool)}, "arguments": {…}}.`,
  NOTE_UNKNOWN: (r) => `The tool ${quote(r.tool)} has no note ${quote(r.note)} in that toolset.`,
  NOTES_FULL: (r) =>
    `The tool ${quote(r.tool)} would exceed the maximum of ${r.limit} notes. An operator can remove some with \`assay notes delete\`.`,
  MODE_DIFFERS: (r) =>
    `The tool ${quote(r.tool)} cannot be called: Assay is in ${r.mode} mode. Call ${quote(r.switch)} first, and list the tools again.`,
  BODY_NOT_JSON: (r) => `The body is not JSON: ${r.reason}. Send one JSON value in UTF-8.`,
  BODY_TOO_LARGE: (r) => `The body is larger than the maximum of ${r.limitBytes} bytes.`,
  BODY_INVALID: (r) => `The body is not valid: ${fieldErrorsIn(r.fieldErrors)}.`,
  QUERY_INVALID: (r) => `The query is not valid: ${fieldErrorsIn(r.fieldErrors)}.`,
  PRECONDITION_FAILED: (r) =>
    `The resource changed since you read it; its ETag is now ${r.etag}. Fetch it and retry.`,
  SETTING_READ_ONLY: (r) =>
    `The setting ${quote(r.name)} controls access to Assay or the addresses it may reach, so it cannot be stored. Set ${r.env}, or settings[${quote(r.name)}] in the config file, and restart Assay.`,
  SETTING_OVERRIDDEN: (r) =>
    `The setting ${quote(r.name)} is fixed by the ${inWords(r.origin)} (${r.by}). Change or remove it there.`,
};

/** Why a server cannot be verified, by transport. */
const UNVERIFIABLE: Readonly<Record<string, string>> = {
  http: 'it runs elsewhere, where its effects cannot be seen. Run `assay verify -- COMMAND` where its program is',
  openapi: 'its tools are requests to a remote API, whose effects cannot be seen',
  local: 'its tools are made by Assay itself',
  codebase: 'it is part of Assay, whose tests verify it',
};

/** The first error, and the number of further ones. */
function fieldErrorsIn(fieldErrors: readonly FieldError[]): string {
  const [first] = fieldErrors;
  if (first === undefined) return 'it is invalid';
  const location = first.at === '' ? '' : `${quote(first.at)}: `;
  const others = fieldErrors.length - 1;
  return `${location}${first.reason}${others === 0 ? '' : `; and ${counted(others, 'more error')}`}`;
}

/** Untrusted text within a sentence: on one line, escaped, already truncated. */
const quote: (text: string) => string = JSON.stringify;

function faultsText(faults: readonly { readonly field: string; readonly reason: string }[]): string {
  return faults.map(({ field, reason }) => (field === '' ? reason : `${field}: ${reason}`)).join(' ');
}

/** Why others could modify the file at a path, and the remedy; without a full stop. */
export function pathFaultPhrase({
  at,
  reason,
  command,
}: Pick<Extract<Refusal, { code: 'PATH_UNSAFE' }>, 'at' | 'reason' | 'command'>): string {
  return `${quote(at)} ${reason}; run \`${command}\`, or set ASSAY_FILE_CHECKS=off if you trust every user of this machine`;
}
