import type { Refusal } from '../../../core/refusal.ts';
import type { ConfigurationTool } from '../../catalog/visible-listing.ts';
import type { View } from '../../catalog/view.ts';
import type { CurrentMode } from '../toolsets/mode.ts';
import { getActiveTool } from './active-toolset.ts';
import { createAnnotationTool } from './add-tool-annotation.ts';
import { createBuildTool } from './build-toolset.ts';
import type { ConfigurationContext } from './context.ts';
import { createListAvailableTool } from './list-available.ts';
import { createEnterTool, createExitTool } from './mode-tools.ts';
import { createOwnTool, type OwnToolSpec } from './own-tool.ts';
import {
  createDeleteTool,
  createEquipTool,
  createListSavedTool,
  createUnequipTool,
} from './saved-toolsets.ts';

export const CONFIGURATION_INSTRUCTIONS: string =
  'These tools choose what other tools there are. Build a toolset of the tools that list-available-tools shows, or equip a saved one; then list the tools again.';

/** The tools of the endpoint /mcp/configuration, which has no modes. */
export function createConfigurationTools(
  context: ConfigurationContext,
): ReadonlyMap<string, ConfigurationTool> {
  return toolsOf(specsOf(context), context);
}

/** The configuration tools of a view. */
export interface Own {
  readonly tools: ReadonlyMap<string, ConfigurationTool>;
  readonly view: View;
}

/** A listed server tool takes precedence over an unlisted configuration tool. */
export function findOwnTool({ tools, view }: Own, name: string): ConfigurationTool | undefined {
  const own = tools.get(name);
  return own === undefined || view.listing('tools').find(name) !== undefined ? undefined : own;
}

export function selectVisibleTools(
  { names, current }: CurrentMode,
  tools: ReadonlyMap<string, ConfigurationTool>,
): readonly ConfigurationTool[] {
  const isConfiguring = names === undefined || current === 'configuration';
  return [...tools.values()].filter(({ key }) => (key === names?.enter) !== isConfiguring);
}

function toolsOf(
  specs: readonly OwnToolSpec[],
  context: ConfigurationContext,
): ReadonlyMap<string, ConfigurationTool> {
  return new Map(specs.map((spec) => [spec.name, createOwnTool(spec, context)]));
}

/** The configuration tools, refused in normal mode, and those that switch modes. */
export function createModeTools(context: ConfigurationContext): ReadonlyMap<string, ConfigurationTool> {
  const specs = specsOf(context);
  const withModes = specs.map((spec) => ({ ...spec, refusal: () => outOfMode(context, spec.name) }));
  return toolsOf([...withModes, ...switchesOf(context, specs)], context);
}

/** In the order of the requirements document. */
function specsOf(context: ConfigurationContext): readonly OwnToolSpec[] {
  return [
    createListAvailableTool(context),
    createBuildTool(context),
    createListSavedTool(context),
    createEquipTool(context),
    createDeleteTool(context),
    createUnequipTool(context),
    getActiveTool(context),
    createAnnotationTool(context),
  ];
}

/** The tools that leave and enter configuration mode. Empty if there are no modes. */
function switchesOf(context: ConfigurationContext, specs: readonly OwnToolSpec[]): readonly OwnToolSpec[] {
  const { names } = context.mode;
  if (names === undefined) return [];
  const exit = createExitTool(context, names);
  return [exit, createEnterTool(context, names, [...specs, exit])];
}

function outOfMode({ mode }: ConfigurationContext, tool: string): Refusal | undefined {
  return mode.names === undefined || mode.current === 'configuration'
    ? undefined
    : { code: 'MODE_DIFFERS', tool, mode: 'normal', switch: mode.names.enter };
}
