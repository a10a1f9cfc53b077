import type { NewTools, Toolset as ToolsetView } from '../../../api/toolset.ts';
import { toToolsetJson } from '../../../core/toolset-json.ts';
import type { LeftOut } from '../../../core/read-toolset-json.ts';
import type { Refusal } from '../../../core/refusal.ts';
import type { Result } from '../../../core/result.ts';
import type { Toolset } from '../../../core/toolset.ts';
import type { Review } from './review.ts';
import type { Unserved } from './unserved.ts';

/** Unlike in an export, without the definitions that tools are pinned to. */
export function toToolsetView(toolset: Toolset, equipped: Toolset | undefined): ToolsetView {
  const { version, tools, createdAt, lastModified, toolNotes, ...head } = toToolsetJson(toolset);
  return {
    ...{ ...head, isEquipped: toolset.name === equipped?.name, createdAt, lastModified },
    tools: tools.map(({ definition: _definition, known: _known, ...tool }) => tool),
    toolNotes,
  };
}

export interface RemovedTool {
  readonly namespacedName: string;
  /** Whether it was in the toolset only through its whole server, which may not have it. */
  readonly isUnconfirmed: boolean;
  /** Number of its notes, which apply again once it is added. */
  readonly notes: number;
}

export type NewTool = NewTools['new'][number];

export interface ToolsetReview {
  readonly reviews: readonly Review[];
  /** Tools of whole servers that are withheld. */
  readonly dangerous: readonly Unserved[];
  /** Whether the toolset has pinned tools or whole servers. */
  readonly isReviewable: boolean;
}

export interface ImportedToolsets {
  readonly imported: readonly { readonly name: string; readonly outcome: 'created' | 'replaced' }[];
  /** The toolset that the import equipped. */
  readonly equipped: string | undefined;
  /** The toolset that is equipped in the file, and the one that stays equipped here. */
  readonly notEquipped: { readonly wanted: string; readonly now: string } | undefined;
  readonly leftOut: readonly LeftOut[];
  /** Tools that are kept, but not served now. An error if that is not known. */
  readonly missing: Result<readonly MissingTool[], Refusal>;
}

export interface MissingTool extends Unserved {
  readonly toolset: string;
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
