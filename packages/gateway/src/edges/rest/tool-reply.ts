import type { Identity } from '../../core/subject.ts';
import type { Tool } from '../../api/tool.ts';
import type { Reply } from './route.ts';
import { hideToolEvidence } from './without-evidence.ts';

/** A tool as the caller may see it, with an ETag over the part that If-Match protects. */
export function toToolReply(view: Tool, identity: Identity): Reply {
  return { kind: 'one', body: hideToolEvidence(identity, view), of: omitGuarantee(view) };
}

/** A tool without `guarantee`, which depends on the machine and cannot be changed. */
export function omitGuarantee({ guarantee, ...view }: Tool): Omit<Tool, 'guarantee'> {
  return view;
}
