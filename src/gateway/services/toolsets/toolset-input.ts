import { toArgumentRefusal, type Refusal } from '../../../core/refusal.ts';
import type { ToolRef } from '../../../core/tool-ref.ts';
import { findDescriptionFault, TOOLSET_LIMITS, findToolsetNameFault } from '../../../core/toolset.ts';

/** A ref to a tool, or to all tools of a server (`server.*`) except some. */
export interface MemberRef extends ToolRef {
  /** The server's own names of the tools to leave out. Absent: as before. */
  readonly except?: readonly string[] | undefined;
}

export interface NewToolset {
  readonly name: string;
  readonly description?: string | undefined;
  readonly tools: readonly MemberRef[];
  /** Whether to equip it in the same transaction. */
  readonly equip?: boolean | undefined;
}

/** Absent members stay as they are. */
export interface ToolsetChanges {
  readonly name?: string | undefined;
  /** Null or empty removes it. */
  readonly description?: string | null | undefined;
  readonly tools?: readonly MemberRef[] | undefined;
}

export const TOOLSET_INPUT_LIMITS: { readonly tools: number; readonly descriptionLength: number } = {
  tools: TOOLSET_LIMITS.tools,
  descriptionLength: TOOLSET_LIMITS.descriptionLength,
};

/** ARGUMENTS_INVALID if a name or a description is invalid. `field`: the argument with the name. */
export function findToolsetFault(
  { name, description }: Omit<ToolsetChanges, 'tools'>,
  field = 'name',
): Refusal | undefined {
  return (
    toArgumentRefusal(field, name === undefined ? undefined : findToolsetNameFault(name)) ??
    toArgumentRefusal('description', findDescriptionFault(description ?? ''))
  );
}
