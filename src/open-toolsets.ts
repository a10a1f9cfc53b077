import { openEquippedFile } from './adapters/store/equipped-file.ts';
import { compileSchema } from './adapters/sources/schema-check.ts';
import { countTokens } from './adapters/telemetry/token-counter.ts';
import { ok } from './core/result.ts';
import type { Settings } from './core/settings.ts';
import type { Catalog } from './gateway/catalog.ts';
import type { Store } from './gateway/ports/store.ts';
import { Toolsets } from './gateway/toolsets/toolsets.ts';
import { ToolsetViews } from './gateway/toolsets/toolset-views.ts';
import { openHomeStore, setting, type Ground } from './ground.ts';

export interface OpenToolsets {
  readonly toolsets: Toolsets;
  readonly views: ToolsetViews;
  readonly close: () => Promise<void>;
}

export interface ToolsetSurroundings {
  readonly ground: Ground;
  readonly settings: Settings;
  /** The store that is open; undefined: it is opened when toolsets are asked for. */
  readonly store: Store | undefined;
  /** Whether clients come with tokens. */
  readonly isPersonal: boolean;
}

/** The toolsets of the home's store, and what they make of a catalog. */
export async function openToolsets(
  catalog: Catalog,
  { ground, settings, store, isPersonal }: ToolsetSurroundings,
): Promise<OpenToolsets> {
  let opening: ReturnType<typeof openHomeStore> | undefined;
  const nowMs = (): number => Date.now();
  const open = (): ReturnType<typeof openHomeStore> => {
    if (store !== undefined) return Promise.resolve(ok(store));
    opening = openHomeStore(ground);
    return opening;
  };
  const memory = await openEquippedFile(ground.home, setting('ASSAY_DATABASE_URL'));
  const toolsets = new Toolsets({ open, memory, nowMs });
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
    // Also one that was not open yet when this began.
    const own = await opening;
    if (own?.ok === true) await own.value.close();
  };
  return { toolsets, views, close };
}
