import { openEquippedFile } from './adapters/store/equipped-file.ts';
import { compileSchema } from './adapters/sources/schema-check.ts';
import { countTokens } from './adapters/telemetry/token-counter.ts';
import type { Settings } from './core/settings.ts';
import type { Catalog } from './gateway/catalog/catalog.ts';
import { Toolsets } from './gateway/services/toolsets/toolsets.ts';
import { ToolsetViews } from './gateway/services/configuration-tools/toolset-views.ts';
import { setting, type Ground } from './ground.ts';
import type { HomeStore } from './home-store.ts';

export interface OpenToolsets {
  readonly toolsets: Toolsets;
  readonly views: ToolsetViews;
  readonly close: () => Promise<void>;
}

export interface ToolsetSurroundings {
  readonly ground: Ground;
  readonly settings: Settings;
  readonly store: HomeStore;
  /** Whether clients come with tokens. */
  readonly isPersonal: boolean;
}

/** The toolsets of the home's store, and what they make of a catalog. */
export async function openToolsets(
  catalog: Catalog,
  { ground, settings, store, isPersonal }: ToolsetSurroundings,
): Promise<OpenToolsets> {
  const nowMs = (): number => Date.now();
  const memory = await openEquippedFile(ground.home, setting('ASSAY_DATABASE_URL'));
  const toolsets = new Toolsets({ open: store.open, memory, nowMs });
  const review = settings['notes.review'];
  const reviewsNotes = review === 'always' || (review === 'auto' && isPersonal);
  const views = new ToolsetViews({
    catalog,
    toolsets,
    settings,
    reviewsNotes,
    countTokens,
    compile: compileSchema,
    nowMs,
  });
  const close = async (): Promise<void> => {
    views.close();
    await toolsets.close();
  };
  return { toolsets, views, close };
}
