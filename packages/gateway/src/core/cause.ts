import { type CauseRecovery, type CauseTable, HTTP_LOG } from './causes/cause-row.ts';
import { CONNECTION_CAUSES, type ConnectionCause } from './causes/connection-causes.ts';
import { ENTRY_CAUSES, type EntryCause } from './causes/entry-causes.ts';
import { LIFECYCLE_CAUSES, type LifecycleCause } from './causes/lifecycle-causes.ts';
import { MESSAGE_CAUSES, type MessageCause } from './causes/message-causes.ts';
import { PROCESS_CAUSES, type ProcessCause } from './causes/process-causes.ts';
import { SECRET_CAUSES, type SecretCause } from './causes/secret-causes.ts';
import { SIGN_IN, SIGN_IN_CAUSES, type SignInCause, signInCommand } from './causes/sign-in-causes.ts';
import { SOURCE_CAUSES, type SourceCause } from './causes/source-causes.ts';

/**
 * Why a server is down, a list could not be read or a request failed. The members are data; everything but their text
 * and remedy reads the code. Codes are permanent: clients and scripts may rely on them. A new one is a member and a row
 * in the file of its subject in `causes/`.
 */
export type Cause =
  | ProcessCause
  | ConnectionCause
  | MessageCause
  | SignInCause
  | SourceCause
  | EntryCause
  | LifecycleCause
  | SecretCause
  // Causes that contain others.
  /** The response stream ended with `first`, and resuming it failed with `last`. */
  | { readonly code: 'STREAM_NOT_RESUMED'; readonly first: Cause; readonly last: Cause }
  /** The request got no response. */
  | { readonly code: 'LIST_UNANSWERED'; readonly method: string; readonly cause: Cause }
  /** `canDiscard`: whether changes of files were discarded; otherwise they were refused, as this machine cannot do that. */
  | { readonly code: 'TWIN_NOT_STARTED'; readonly cause: Cause; readonly canDiscard: boolean }
  | {
      readonly code: 'SIGN_IN_NEEDED';
      readonly server: string;
      readonly subject: string;
      readonly cause?: Cause | undefined;
    };

export type CauseCode = Cause['code'];

const CAUSES: CauseTable<Cause> = {
  ...PROCESS_CAUSES,
  ...CONNECTION_CAUSES,
  ...MESSAGE_CAUSES,
  ...SIGN_IN_CAUSES,
  ...SOURCE_CAUSES,
  ...ENTRY_CAUSES,
  ...LIFECYCLE_CAUSES,
  ...SECRET_CAUSES,
  STREAM_NOT_RESUMED: {
    recovery: 'time',
    text: ({ first, last }) => `${formatCause(first)}, and then ${formatCause(last)}`,
    remedy: HTTP_LOG,
  },
  LIST_UNANSWERED: {
    recovery: 'time',
    text: ({ method, cause }) => `${method}: ${formatCause(cause)}`,
    remedy: 'Check the log of the server, or raise "timeoutMs" in its config entry.',
  },
  TWIN_NOT_STARTED: {
    recovery: 'change',
    text: ({ cause, canDiscard }) =>
      `its sandboxed process for read-only tools did not start (${formatCause(cause)})${canDiscard ? '' : '; writes are refused because this system allows no overlay mounts'}`,
    remedy:
      'Add the files and folders that it reads to "roots" in its config entry, and check with `assay doctor`; to run its read-only tools without a sandbox, set "sandbox": "off".',
  },
  SIGN_IN_NEEDED: {
    recovery: 'sign_in',
    text: ({ server, subject, cause }) =>
      `it waits for authorization${cause === undefined ? '' : ` (${formatCause(cause)})`}; run ${signInCommand(server, subject)}`,
    remedy: SIGN_IN,
  },
};

/** All codes, by subject. */
export const CAUSE_CODES: readonly CauseCode[] = Object.keys(CAUSES) as CauseCode[]; // keys of a total record

/** A cause as a phrase to follow the name of a server, without a full stop. Upstream text is quoted verbatim. */
export function formatCause(cause: Cause): string {
  return CAUSES[cause.code].text(cause as never);
}

/** What to do about a cause, in one or two sentences. */
export function getRemedy(code: CauseCode): string {
  return CAUSES[code].remedy;
}

export function getRecovery({ code }: Pick<Cause, 'code'>): CauseRecovery {
  return CAUSES[code].recovery;
}

/** A cause in public JSON: its phrase and its code. */
export function toCauseJson(cause: Cause): { readonly cause: string; readonly causeCode: CauseCode } {
  return { cause: formatCause(cause), causeCode: cause.code };
}

/** Adds the error that a process wrote to stderr to a cause that can hold one. */
export function addStderr(cause: Cause, stderr: string | undefined): Cause {
  if (stderr === undefined) return cause;
  switch (cause.code) {
    case 'PROCESS_EXITED':
    case 'PROCESS_KILLED':
    case 'STDOUT_CLOSED':
    case 'STDIN_CLOSED':
    case 'HANDSHAKE_TIMEOUT':
      return { ...cause, stderr };
    default:
      return cause;
  }
}

/** Applies a function to every text in a cause, e.g. to mask or truncate it. The code is kept. */
export function mapTexts(cause: Cause, change: (text: string) => string): Cause {
  return mapped(cause, change) as Cause; // the same members, of the same types
}

function mapped(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((one) => mapped(one, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, key === 'code' ? member : mapped(member, change)]),
  );
}
