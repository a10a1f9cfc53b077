import type { ApprovalRefusal } from './approval.ts';
import type { Cause } from './cause.ts';
import type { SandboxGap, TwinRights } from './sandbox.ts';
import type { Denial } from './sandbox-denial.ts';
import type { StoreRefusal } from './store-refusal.ts';

/** A call without a result, which its server may have executed all the same. */
export interface SentCall {
  readonly effect: 'unknown';
  /** Number of times it was sent. */
  readonly times: number;
  /** Whether the tool is read-only or idempotent, so that the call can be repeated. */
  readonly mayRepeat: boolean;
}

/**
 * Every error that Assay itself returns, by code. Codes are permanent: clients and scripts may rely on them. Errors of
 * an upstream server are not listed here; they are relayed unchanged.
 */
export type Refusal =
  | { readonly code: 'MESSAGE_NOT_JSON'; readonly reason: string }
  | { readonly code: 'MESSAGE_INVALID'; readonly reason: string }
  | { readonly code: 'MESSAGE_TOO_LARGE'; readonly limitBytes: number }
  | { readonly code: 'BODIES_FULL'; readonly limitBytes: number; readonly waitSeconds: number }
  | { readonly code: 'METHOD_UNKNOWN'; readonly method: string }
  | { readonly code: 'PARAMS_INVALID'; readonly field: string; readonly reason: string }
  | { readonly code: 'ENVELOPE_INVALID'; readonly field: string; readonly reason: string }
  | { readonly code: 'HEADER_MISMATCH'; readonly header: string; readonly reason: string }
  | {
      readonly code: 'PROTOCOL_UNSUPPORTED';
      readonly requested: string;
      readonly supported: readonly string[];
    }
  | { readonly code: 'SESSION_MISSING' }
  | { readonly code: 'SESSION_UNKNOWN' }
  | { readonly code: 'SESSION_LIMIT' }
  | { readonly code: 'CONNECTION_LIMIT'; readonly limit: number }
  | { readonly code: 'EVENT_UNKNOWN' }
  | { readonly code: 'TARGET_INVALID'; readonly reason: string }
  | { readonly code: 'HEADER_INVALID'; readonly header: string; readonly reason: string }
  | { readonly code: 'HOST_FORBIDDEN'; readonly host: string }
  | { readonly code: 'ORIGIN_FORBIDDEN'; readonly origin: string }
  | {
      readonly code: 'TOKEN_REQUIRED';
      /** A phrase: why the given token is invalid, if that may be disclosed. ASCII without quotes. */
      readonly reason?: string;
    }
  | { readonly code: 'LINK_UNUSABLE' }
  | { readonly code: 'ISSUER_UNAVAILABLE'; readonly issuer: string; readonly waitSeconds: number }
  | { readonly code: 'HTTP_METHOD_UNKNOWN'; readonly method: string; readonly allowed: string }
  | { readonly code: 'MEDIA_TYPE_UNKNOWN'; readonly type: string }
  | { readonly code: 'NOT_ACCEPTABLE' }
  | { readonly code: 'ENDPOINT_UNKNOWN'; readonly path: string; readonly known: readonly string[] }
  | { readonly code: 'TOOL_UNKNOWN'; readonly name: string }
  | { readonly code: 'NAME_AMBIGUOUS'; readonly name: string; readonly candidates: readonly string[] }
  | { readonly code: 'TOOL_WITHHELD'; readonly name: string; readonly reason: string }
  | { readonly code: 'PROMPT_UNKNOWN'; readonly name: string }
  | { readonly code: 'RESOURCE_UNKNOWN'; readonly uri: string }
  | { readonly code: 'SUBSCRIPTION_UNSUPPORTED'; readonly server: string; readonly uri: string }
  | { readonly code: 'SUBSCRIPTION_LIMIT'; readonly limit: number }
  | { readonly code: 'EVENT_STREAM_LIMIT'; readonly limit: number }
  | { readonly code: 'CURSOR_INVALID' }
  | { readonly code: 'TASK_UNKNOWN'; readonly taskId: string }
  | { readonly code: 'TASK_UNSUPPORTED'; readonly name: string }
  | { readonly code: 'TASK_REQUIRED'; readonly name: string }
  | {
      readonly code: 'CAPABILITY_MISSING';
      /** In the format of client capabilities (2026-07-28, basic/index#error-codes). */
      readonly requiredCapabilities: Readonly<Record<string, unknown>>;
    }
  | {
      readonly code: 'SERVER_UNAVAILABLE';
      readonly server: string;
      readonly cause: Cause;
      /** Status of an HTTP server that did not answer with MCP. */
      readonly httpStatus?: number;
      readonly sent?: SentCall;
    }
  | {
      readonly code: 'SERVER_ENDED';
      readonly server: string;
      readonly cause: Cause;
      readonly sent?: SentCall;
    }
  | { readonly code: 'SERVER_MESSAGE_INVALID'; readonly server: string; readonly reason: string }
  | { readonly code: 'SERVER_UNREACHED'; readonly server: string; readonly cause: Cause }
  /** The tool is read-only, and the machine cannot run it with only these rights. */
  | { readonly code: 'SANDBOX_UNAVAILABLE'; readonly server: string; readonly gap: SandboxGap }
  /** The tool is read-only, and its sandbox denied an attempt. */
  | {
      readonly code: 'SANDBOX_DENIED';
      readonly server: string;
      readonly tool: string;
      readonly rights: TwinRights;
      readonly denial: Denial;
    }
  | {
      readonly code: 'SERVER_TIMEOUT';
      readonly server: string;
      readonly limitMs: number;
      readonly sent?: SentCall;
    }
  | { readonly code: 'SERVER_ASKS'; readonly server: string; readonly reason: string }
  | {
      readonly code: 'QUESTION_UNANSWERED';
      readonly server: string;
      readonly method: string;
      readonly reason: string;
    }
  | { readonly code: 'CLIENT_SILENT'; readonly reason: string }
  | { readonly code: 'STATE_INVALID'; readonly reason: string }
  | ApprovalRefusal
  | StoreRefusal
  | { readonly code: 'CALL_EXPIRED' }
  | { readonly code: 'CALL_ELSEWHERE' }
  | { readonly code: 'CANCELLED' }
  | { readonly code: 'SHUTTING_DOWN' }
  | { readonly code: 'INTERNAL' }
  | { readonly code: 'CONFIG_UNREADABLE'; readonly path: string; readonly reason: string }
  | { readonly code: 'CONFIG_ABSENT'; readonly path: string }
  | { readonly code: 'CONFIG_INVALID'; readonly path: string; readonly reason: string }
  /** `at`: the path or one of its parent folders; `reason`: a predicate of `at`; `command`: fixes it. */
  | {
      readonly code: 'PATH_UNSAFE';
      readonly path: string;
      readonly at: string;
      readonly reason: string;
      readonly command: string;
    }
  | { readonly code: 'SETTING_INVALID'; readonly name: string; readonly reason: string }
  | { readonly code: 'ADDRESS_NEEDS_TOKEN'; readonly host: string }
  | { readonly code: 'ADDRESS_UNUSABLE'; readonly address: string; readonly reason: string }
  /** `field`: the argument, by its name in a request, such as `notes.0.name`. */
  | { readonly code: 'ARGUMENTS_INVALID'; readonly field?: string; readonly reason: string }
  | { readonly code: 'SERVERS_ABSENT'; readonly path: string }
  | { readonly code: 'TOKEN_EXISTS'; readonly name: string }
  | { readonly code: 'LABELS_UNKNOWN'; readonly subject: string }
  | { readonly code: 'TOKEN_UNKNOWN'; readonly name: string }
  | { readonly code: 'CALL_UNKNOWN'; readonly id: number | string }
  | { readonly code: 'SCOPE_MISSING'; readonly scope: string }
  | { readonly code: 'TOO_MANY_FAILURES'; readonly waitSeconds: number }
  | { readonly code: 'CLIENT_BUSY'; readonly limit: number }
  | { readonly code: 'SERVER_BUSY'; readonly server: string; readonly cause: Cause }
  | { readonly code: 'CLIENT_UNKNOWN'; readonly name: string; readonly known: readonly string[] }
  | { readonly code: 'CLIENT_ABSENT'; readonly client: string; readonly folder: string }
  | { readonly code: 'CLIENT_NEEDS_COMMAND'; readonly client: string }
  | { readonly code: 'ENTRY_EXISTS'; readonly name: string; readonly path: string }
  | {
      readonly code: 'NOTHING_FOUND';
      readonly places: readonly string[];
      /** Project folders for which the client has servers. */
      readonly projects: readonly string[];
    }
  | { readonly code: 'NOTHING_TO_UNDO'; readonly path: string }
  | { readonly code: 'FILE_UNREADABLE'; readonly path: string; readonly reason: string }
  | { readonly code: 'FILE_UNWRITABLE'; readonly path: string; readonly reason: string }
  | { readonly code: 'SERVER_UNKNOWN'; readonly name: string; readonly known: readonly string[] }
  | {
      readonly code: 'AUTHORIZATION_NEEDED';
      readonly server: string;
      readonly subject: string;
      /** Why the previous sign-in is unusable. Undefined if there was none. */
      readonly cause?: Cause | undefined;
    }
  | { readonly code: 'AUTHORIZATION_FAILED'; readonly server: string; readonly reason: string }
  | { readonly code: 'AUTHORIZATION_UNKNOWN'; readonly server: string; readonly subject: string }
  | { readonly code: 'KEY_UNUSABLE'; readonly place: string; readonly reason: string }
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
  /** `toolset`: pinned the definition. Undefined if it changed while a call waited. */
  | { readonly code: 'TOOL_CHANGED'; readonly tool: string; readonly toolset?: string }
  | { readonly code: 'TOOL_DRIFTED'; readonly tool: string }
  | { readonly code: 'NOTE_EXISTS'; readonly tool: string; readonly note: string }
  | { readonly code: 'NOTE_ACCEPTED'; readonly tool: string; readonly note: string }
  | { readonly code: 'EXECUTE_OFF' }
  /** `transport`: the server's transport, which is not a command. */
  | { readonly code: 'VERIFICATION_UNSUPPORTED'; readonly server: string; readonly transport: string }
  /** `server`: the server that is being verified. */
  | { readonly code: 'VERIFICATION_RUNNING'; readonly server: string }
  /** `reason`: sentences. */
  | { readonly code: 'VERIFICATION_FAILED'; readonly server: string; readonly reason: string }
  | { readonly code: 'GATEWAY_EXISTS'; readonly name: string }
  | {
      readonly code: 'GATEWAY_INVALID';
      readonly name: string;
      /** `field`: a member of the request; empty for the name. */
      readonly faults: readonly { readonly field: string; readonly reason: string }[];
    }
  /** `field`: the read-only member; empty for the whole gateway. */
  | { readonly code: 'GATEWAY_READ_ONLY'; readonly name: string; readonly field: string }
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
  | { readonly code: 'TOOL_DISABLED'; readonly tool: string }
  /** `at`: JSON pointers into the bundle. */
  | { readonly code: 'BUNDLE_INVALID'; readonly fieldErrors: readonly FieldError[] }
  | { readonly code: 'BUNDLE_LOCKED' }
  /** `at`: a JSON pointer to the hints, if they came in a document. */
  | { readonly code: 'HINTS_CONTRADICT'; readonly tool: string; readonly at?: string }
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
  /** The endpoint lists no tools of servers; they are called through `call_tool`. */
  | { readonly code: 'CALL_TOOL_REQUIRED'; readonly tool: string }
  | { readonly code: 'NOTE_UNKNOWN'; readonly tool: string; readonly note: string }
  | { readonly code: 'NOTES_FULL'; readonly tool: string; readonly limit: number }
  | {
      readonly code: 'MODE_DIFFERS';
      readonly tool: string;
      /** The current mode. */
      readonly mode: 'configuration' | 'normal';
      /** The tool that switches to the other mode. */
      readonly switch: string;
    }
  | { readonly code: 'BODY_NOT_JSON'; readonly reason: string }
  | { readonly code: 'BODY_TOO_LARGE'; readonly limitBytes: number }
  | { readonly code: 'BODY_INVALID'; readonly fieldErrors: readonly FieldError[] }
  | { readonly code: 'QUERY_INVALID'; readonly fieldErrors: readonly FieldError[] }
  | {
      readonly code: 'PRECONDITION_FAILED';
      /** The current ETag. */
      readonly etag: string;
    }
  | { readonly code: 'SETTING_READ_ONLY'; readonly name: string; readonly env: string }
  | {
      readonly code: 'SETTING_OVERRIDDEN';
      readonly name: string;
      readonly origin: 'environment' | 'config_file';
      /** The environment variable or config file member that sets it. */
      readonly by: string;
    };

/** A reference that matches no tool. */
export type UnknownRef = Pick<Extract<Refusal, { code: 'REF_UNKNOWN' }>, 'ref' | 'nearest'>;

export type RefusalCode = Refusal['code'];

/** A refusal that one part of a request caused. */
export type PlacedRefusal = Refusal & Placed;

export interface Placed {
  /** The way to the part, such as `['tools', 1]`. */
  readonly inputPath?: readonly (string | number)[];
}

/** A refusal of an argument if there is a reason, which ends a sentence. */
export function argumentFault(field: string, reason: string | undefined): Refusal | undefined {
  return reason === undefined ? undefined : { code: 'ARGUMENTS_INVALID', field, reason };
}

/** An error in one part of a body or one query parameter. */
export interface FieldError {
  /** JSON pointer (RFC 6901) into the request body; for a query, the name of the parameter. */
  readonly at: string;
  readonly kind: FieldErrorKind;
  /** The end of a sentence. */
  readonly reason: string;
}

/** `unknown`: no such member; `twice`: given twice. */
export type FieldErrorKind = 'missing' | 'unknown' | 'twice' | 'invalid';
