import type { Approval } from '../../../api/approval.ts';
import type { Cancellation } from '@assay-mcp/kit/cancellation';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import type { Identity } from '../../../core/subject.ts';
import { VERSION } from '@assay-mcp/kit/version';
import type { View } from '../../catalog/view.ts';
import type { Relay } from '../../relay/call.ts';
import { answerOwn, type OwnAnswer } from '../../relay/own-call.ts';
import { toApproval } from '../approvals.ts';

export interface RunRequest {
  /** The public name. */
  readonly name: string;
  readonly args: JsonObject;
  readonly identity: Identity;
  readonly cancellation: Cancellation;
  /** The time in ms since 1970. */
  readonly nowMs: () => number;
  /** Receives the progress and log messages of the call. */
  readonly onNotification: (note: JsonObject) => void;
  /** Called when the call begins to wait for approval. */
  readonly onWaiting: (approval: Approval) => void;
}

/** Recorded with the call, and shown while it waits for approval. */
const CLIENT_INFO = JSON.stringify({ name: 'assay-run', title: 'Run page', version: VERSION });

/** Calls a tool for an operator. The call is decided on, approved and recorded like that of any client. */
export function runTool(
  { relay, view }: { readonly relay: Relay; readonly view: View },
  { name, args, identity, cancellation, nowMs, onNotification, onWaiting }: RunRequest,
): Promise<OwnAnswer> {
  return answerOwn(relay, view, {
    identity,
    method: 'tools/call',
    params: { name, arguments: args },
    clientInfo: CLIENT_INFO,
    cancellation,
    onNotification,
    onWaiting: (approval) => onWaiting(toApproval(approval, nowMs())),
  });
}
