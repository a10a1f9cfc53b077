import { type Denial, findDenial, MAX_DENIAL_TEXT, type ObservedDenial } from '@assay-mcp/sandbox/denial';
import type { Refusal } from '../../core/refusal.ts';
import { err, type Result } from '@assay-mcp/kit/result';
import type { TwinCall, TwinDenials } from '../catalog/twin-denials.ts';
import type { Reply } from '../ports/link.ts';
import { isToolError } from './record.ts';

interface Watched {
  readonly denials: TwinDenials | undefined;
  /** The last connection that its sandbox refused during the call. */
  readonly refused: ObservedDenial | undefined;
}

/** The answer of a twin, or SANDBOX_DENIED if the call failed because its sandbox refused something. */
export async function checkDenial(
  call: TwinCall,
  reply: Result<Reply, Refusal>,
  { denials, refused }: Watched,
): Promise<Result<Reply, Refusal>> {
  if (denials === undefined) return reply;
  if (refused !== undefined) {
    denials.refused(call, refused);
    if (!reply.ok || isFailed(reply.value)) return err(denied(call, refused));
  }
  const text = textToSearch(reply);
  const reported = text === undefined ? undefined : findDenial(text, call.rights);
  if (reported === undefined) {
    if (reply.ok && isToolError(reply.value.message)) denials.failed(call);
    return reply;
  }
  const denial = await denials.judge(call, reported, !reply.ok || isFailed(reply.value));
  return denial === undefined ? reply : err(denied(call, denial));
}

function denied({ spec, definition, rights }: TwinCall, { kind, target }: Denial): Refusal {
  const denial = { kind, target };
  return { code: 'SANDBOX_DENIED', server: spec.name, tool: definition.key ?? '', rights, denial };
}

/** The text of an error. Undefined if nothing failed: some servers report failures as results, in short texts. */
function textToSearch(reply: Result<Reply, Refusal>): string | undefined {
  if (!reply.ok) {
    const { error } = reply;
    return error.code === 'SERVER_ENDED' && 'stderr' in error.cause ? error.cause.stderr : undefined;
  }
  const { bytes } = reply.value.message;
  if (bytes.length > MAX_DENIAL_TEXT) return undefined;
  const isSuspect =
    isFailed(reply.value) || (bytes.length <= SHORT_BYTES && MARKS.some((mark) => bytes.includes(mark)));
  return isSuspect ? bytes.toString() : undefined;
}

function isFailed({ message }: Reply): boolean {
  return message.isError || isToolError(message);
}

const SHORT_BYTES = 4 * 1024;
/** Fragments of runtimes' error messages about refused changes and connections. */
const MARKS = [
  'EROFS',
  'ead-only file',
  'Errno 30',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOTFOUND',
  'etch failed',
  '--allow-fs-write',
];
