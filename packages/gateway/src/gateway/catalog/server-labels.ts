import type { SessionLabel } from '../../core/policy/policy.ts';
import { computeResultLabels } from '../../core/policy/session-labels.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import { getSourceKind } from '../../core/sources/source-kinds.ts';

/** The labels that follow from what a server sends outside its tools' calls. It has no hints, so the worst is assumed. */
export function computeServerLabels({ transport, tags = [] }: ServerSpec): ReadonlySet<SessionLabel> {
  const holdsPrivateData = getSourceKind(transport).holdsPrivateData(transport);
  return computeResultLabels({ hints: undefined, tags, holdsPrivateData });
}

/** `LiveLabels.add` */
export type AddLabels = (subject: string, labels: ReadonlySet<SessionLabel>, source: string) => unknown;
