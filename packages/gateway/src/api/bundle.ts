import * as z from 'zod';
import { MIN_PASSPHRASE_LENGTH } from '../core/fixed-limits.ts';
import type { Data, DataInput } from './data.ts';

/** Everything that operators created. */
export const BUNDLE = z
  .object({
    assay: z.literal(1).meta({ description: 'Version of the bundle format.' }),
    exportedAt: z.iso.datetime(),
    records: z.array(
      z.object({
        kind: z.string().meta({ description: 'Kind of record.' }),
        version: z.int().meta({ description: 'Version of the body.' }),
        id: z.string().exactOptional().meta({ description: 'The key of a setting.' }),
        body: z.unknown(),
      }),
    ),
  })
  .catchall(z.unknown())
  .meta({
    id: 'Bundle',
    description: 'Everything that operators created; `assay docs backup` lists the members.',
  });

export type Bundle = Data<typeof BUNDLE>;

const PASSPHRASE = z
  .string()
  .min(MIN_PASSPHRASE_LENGTH)
  .max(1_000)
  .meta({ description: 'Encrypts the secrets on export; decrypts them on import.' });

export const EXPORT_INPUT = z.object({ passphrase: PASSPHRASE }).meta({ id: 'ExportInput' });

export const IMPORT_INPUT = z
  .object({
    bundle: z
      .unknown()
      .meta({ type: 'object', description: 'The exported bundle, unchanged, or config.json of HyperTool.' }),
    passphrase: PASSPHRASE.optional(),
    apply: z.boolean().default(false),
    onConflict: z.enum(['replace', 'keep']).default('replace').meta({
      description: 'How to treat existing items that differ. Default: replace.',
    }),
  })
  .meta({ id: 'ImportInput' });

/** The body of an import. */
export type ImportInput = DataInput<typeof IMPORT_INPUT>;

export type BundleImport = Data<typeof IMPORT_INPUT>;

const PLAIN = z.union([z.string(), z.number(), z.boolean()]).nullable();

const ACTION = z.enum(['create', 'update', 'unchanged', 'kept', 'omitted']);

/** What an import does, or would do, with one item of a bundle. */
const IMPORT_ITEM = z.object({
  kind: z.enum([
    'gateway',
    'tool',
    'function',
    'trust',
    'override',
    'toolset',
    'equipped',
    'preference',
    'policy_rules',
  ]),
  name: z.string(),
  action: ACTION,
  changed: z.array(z.string()).meta({ description: 'The members that differ.' }),
  before: PLAIN.exactOptional().meta({
    description: 'For a preference, trust, and the equipped toolset: the current value.',
  }),
  after: PLAIN.exactOptional().meta({ description: 'The value in the bundle.' }),
  warnings: z.array(z.string()),
});

export type ImportItem = Data<typeof IMPORT_ITEM>;

export type PlanAction = ImportItem['action'];

export const IMPORT_PLAN = z
  .object({
    applied: z.boolean().meta({ description: 'Whether the plan was applied.' }),
    counts: z.record(ACTION, z.int()),
    items: z.array(IMPORT_ITEM),
  })
  .meta({ id: 'ImportPlan' });

export type ImportPlan = Data<typeof IMPORT_PLAN>;
