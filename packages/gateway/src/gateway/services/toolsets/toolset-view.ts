import type {
  NewTools,
  ToolsetReview,
  ToolsetWithRemoved,
  Toolset as ToolsetView,
} from '../../../api/toolset.ts';
import { withoutUndefined } from '@assay-mcp/kit/json-object';
import { toToolsetJson } from '../../../core/toolset-json.ts';
import type { Toolset } from '../../../core/toolset.ts';
import type { Review } from './review.ts';

export function toToolsetView(toolset: Toolset, equipped: Toolset | undefined): ToolsetView {
  const { tools, createdAt, lastModified, toolNotes, ...head } = toToolsetJson(toolset);
  return {
    ...{ ...head, isEquipped: toolset.name === equipped?.name, createdAt, lastModified },
    tools: tools.map(({ known: _known, ...tool }) => tool),
    toolNotes,
  };
}

export type RemovedTool = ToolsetWithRemoved['removed'][number];

export type NewTool = NewTools['new'][number];

export function toReviewView(review: Review): ToolsetReview['tools'][number] {
  const { namespacedName, state } = review;
  if (state === 'new') return { namespacedName, state, refId: review.now.refId, definition: review.now.text };
  const { held } = review;
  const reason = 'reason' in review ? { reason: review.reason } : {};
  const seen = { namespacedName, state, ...reason, refId: held.refId };
  if (review.state !== 'changed') return seen;
  const { now, changes } = review;
  return {
    ...seen,
    definition: held.text,
    now: { refId: now.refId, definition: now.text },
    changes: changes.map(withoutUndefined),
  };
}

export interface IncludedServers {
  readonly name: string;
  readonly change: 'created' | 'extended' | 'same';
  /** Number of members added. */
  readonly added: number;
  /** Number of members now. */
  readonly members: number;
  /** The toolset that is equipped now. */
  readonly equipped: string | undefined;
}
