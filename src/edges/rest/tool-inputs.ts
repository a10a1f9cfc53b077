import * as z from 'zod';
import { type Confirm, CONFIRMS } from '../../core/confirm.ts';
import { MAX_CACHE_MS } from '../../core/hints/tool-record.ts';
import { findTagsFault } from '../../core/tags.ts';

export const CONFIRM_INPUT: z.ZodType<Confirm | 'session' | 'suspended' | null | undefined> = z
  .enum([...CONFIRMS, 'session', 'suspended'])
  .nullable()
  .optional()
  .meta({
    description:
      'How often its calls must be confirmed; `first` and `session`: once per session. null: as `policy.confirm` says. `suspended` is ignored here.',
  });

const CACHE_MS = z.int().min(0).max(MAX_CACHE_MS);

export const CACHE_INPUT: z.ZodType<number | 'suspended' | null | undefined> = z
  .union([CACHE_MS, z.literal('suspended')])
  .nullable()
  .optional()
  .meta({
    description:
      'How long its results are cached, in ms, if it is known to be read-only; 0: not cached. null: as `cache.ttlMs` says. `suspended` is ignored here.',
  });

export const TAGS_INPUT: z.ZodType<readonly string[] | null | undefined> = z
  .array(z.string())
  .superRefine((tags, context) => {
    const message = findTagsFault(tags);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .nullable()
  .optional()
  .meta({
    description: 'The operator’s tags, for use in rules; `private` and `outbound` have a special meaning.',
  });
