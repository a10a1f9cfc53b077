import type { Settings } from '../../../core/settings.ts';
import type { Toolset } from '../../../core/toolset.ts';
import type { LiveLabels } from '../../catalog/call-deps.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { CompileSchema } from '../../ports/compile-schema.ts';
import type { BuildSearch } from '../../ports/search.ts';
import type { CountTokens } from '../../ports/telemetry.ts';
import { formatNamespacedName } from '../../../core/tool-ref.ts';
import { isWhole, getWholeServerName } from '../../../core/whole-server.ts';
import type { Listing } from '../../catalog/listing.ts';
import type { NoteService } from '../notes/note-service.ts';
import type { Equipping } from '../toolsets/equipping.ts';
import type { CurrentMode } from '../toolsets/mode.ts';
import { getEntryName } from '../toolsets/tool-index.ts';
import type { ToolsetCaller, ToolsetService } from '../toolsets/toolset-service.ts';
import type { Toolsets } from '../toolsets/toolsets.ts';

/** Dependencies of the configuration tools. */
export interface ConfigurationContext {
  readonly catalog: Catalog;
  readonly labels: Pick<LiveLabels, 'read'>;
  readonly toolsets: Toolsets;
  readonly notes: NoteService;
  readonly toolsetService: ToolsetService;
  readonly settings: Settings;
  /** Whether notes by models wait for an operator's review. */
  readonly reviewsNotes: boolean;
  readonly mode: CurrentMode;
  readonly equipping: Equipping;
  /** Whether all clients see the toolset that one of them equips. */
  readonly isEquippingShared: boolean;
  readonly loadTokenCounter: () => Promise<CountTokens>;
  readonly buildSearch: BuildSearch;
  readonly compile: CompileSchema;
}

/** The toolset without the tools that rules hide from the caller. */
export function toVisibleToolset(
  toolset: Toolset,
  { catalog }: Pick<ConfigurationContext, 'catalog'>,
  subject: string,
): Toolset {
  const all = catalog.all.listing('tools');
  const visible = catalog.all.forCaller(subject).listing('tools');
  if (visible === all) return toolset;
  const hidden = hiddenNames(all, visible);
  const isShown = ({ namespacedName }: { readonly namespacedName: string }): boolean =>
    !hidden.has(namespacedName);
  return {
    ...toolset,
    tools: toolset.tools.filter(isShown).map((tool) => {
      if (!isWhole(tool)) return tool;
      const server = getWholeServerName(tool);
      return {
        ...tool,
        except: tool.except.filter((name) => !hidden.has(formatNamespacedName(server, name))),
      };
    }),
    toolNotes: toolset.toolNotes.filter(isShown),
  };
}

/** Kept for each list: there can be many toolsets and callers. */
const HIDDEN_NAMES = new WeakMap<Listing, ReadonlySet<string>>();

/** The namespaced names that a list has and `visible`, which is part of it, has not. */
function hiddenNames(all: Listing, visible: Listing): ReadonlySet<string> {
  const known = HIDDEN_NAMES.get(visible);
  if (known !== undefined) return known;
  const shown = new Set([...visible.entries, ...visible.disabled].map(getEntryName));
  const names = [...all.entries, ...all.disabled].map(getEntryName).filter((name) => !shown.has(name));
  const hidden = new Set(names);
  HIDDEN_NAMES.set(visible, hidden);
  return hidden;
}

/** The model that a configuration tool works for. */
export function toModelCaller(
  { settings, equipping }: Pick<ConfigurationContext, 'settings' | 'equipping'>,
  subject: string,
): ToolsetCaller {
  return { subject, model: { rights: settings['toolsets.modelsMayChange'], equipping } };
}
