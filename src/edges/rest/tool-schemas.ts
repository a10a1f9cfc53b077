import { z } from '@hono/zod-openapi';
import { type Confirm, CONFIRMS } from '../../core/confirm.ts';
import { HINTS } from '../../core/hints/hint.ts';
import { OBSERVED_KINDS } from '../../core/hints/tool-verification.ts';
import { MAX_CACHE_MS } from '../../core/hints/tool-record.ts';
import { LINT_RULES } from '../../core/hints/lint.ts';
import { GUARANTEES } from '../../core/sandbox.ts';
import { tagsFault } from '../../core/tags.ts';
import { WARNINGS } from './route.ts';

const CLAIM = z
  .object({
    value: z.boolean(),
    kind: z.enum(['declared', 'inferred', 'override', 'observed']),
    source: z
      .enum(['server', 'operator', 'config_file', 'document', 'module', 'rule', 'verification'])
      .openapi({ description: 'The kind of party that made the claim.' }),
    origin: z
      .string()
      .openapi({ description: 'Name of the claimant: a server, a module, a subject or a verification.' }),
    reason: z.string().optional(),
    at: z.iso.datetime().optional(),
    digest: z.string().openapi({ description: 'SHA-256 of the definition that the claim is about.' }),
    mayLower: z.boolean().openapi({ description: 'Whether the claim may lower caution in decisions.' }),
    suspended: z.string().optional().openapi({ description: 'Why the claim is not in effect now.' }),
  })
  .openapi('Claim');

const HINT = z
  .object({
    effective: z.boolean().openapi({ description: 'The value that results from all claims.' }),
    decidedBy: z.enum(['declared', 'inferred', 'override', 'observed', 'implied', 'default']),
    reason: z.string(),
    reasonCode: z.string().openapi({ description: 'The same, as a code.' }),
    decision: z
      .boolean()
      .openapi({ description: 'The value used for decisions; only trusted claims lower caution.' }),
    emitted: z.boolean().optional().openapi({ description: 'The value that clients see. Absent: none.' }),
    isContradicted: z.boolean(),
    claims: z.array(CLAIM),
  })
  .openapi('Hint');

export function ofHints<T extends z.ZodType>(schema: T): Record<(typeof HINTS)[number], T> {
  return Object.fromEntries(HINTS.map((hint) => [hint, schema])) as Record<(typeof HINTS)[number], T>; // every hint was visited
}

export const HINTS_SCHEMA: z.ZodObject = z.object(ofHints(HINT));

const DRIFT = z
  .object({
    since: z.iso.datetime(),
    severity: z.enum(['dangerous', 'review', 'harmless']),
    isDangerous: z.boolean(),
    dangers: z
      .array(z.string())
      .openapi({ description: 'Changes that suspend caution-lowering overrides until they are reviewed.' }),
    flags: z.array(z.string()).openapi({ description: 'Changes that only call for a review.' }),
    isVolatile: z
      .boolean()
      .openapi({ description: 'Whether titles and descriptions change at each start of the server.' }),
    changes: z.array(
      z.object({ path: z.string(), before: z.string().optional(), after: z.string().optional() }),
    ),
    suspends: z.array(z.enum(HINTS)).openapi({ description: 'Hints whose override waits for a review.' }),
  })
  .openapi('Drift');

const OBSERVED = z.object({
  verdict: z.enum(OBSERVED_KINDS),
  at: z.iso.datetime(),
  calls: z.int().optional(),
  shapes: z.int().optional().openapi({ description: 'Number of distinct argument shapes among the calls.' }),
  reason: z.string().optional().openapi({ description: 'Why there is no verdict.' }),
  evidence: z
    .array(
      z.object({
        effect: z.string(),
        message: z.string(),
        target: z.string().openapi({ description: 'File, address or host.' }),
        call: z.int().openapi({ description: 'Number of the call with these arguments.' }),
        args: z.string().openapi({ description: 'JSON text, possibly truncated.' }),
        at: z.iso.datetime(),
      }),
    )
    .optional(),
});

const VERIFICATION = z
  .object({
    isCurrent: z.boolean().openapi({
      description: 'Whether it is about the current definition. Otherwise it has no effect on decisions.',
    }),
    digest: z.string(),
    at: z.iso.datetime(),
    by: z.string(),
    server: z.object({ name: z.string(), version: z.string(), packageDigest: z.string() }),
    mechanisms: z.array(z.string()).openapi({ description: 'The mechanism that observed the server.' }),
    hints: z.object(ofHints(OBSERVED.optional())),
    keepsState: z.boolean().optional().openapi({
      description:
        'Identical calls were answered differently until the process restarted: the tool keeps state in memory.',
    }),
  })
  .openapi('ToolVerification', {
    description: 'The observations of `assay verify`. No verdict means that the tool is safe.',
  });

const LINT = z
  .object({
    rule: z.enum(LINT_RULES),
    level: z.enum(['error', 'warning']),
    hint: z.enum(HINTS).optional(),
    message: z.string(),
    remedy: z.string(),
  })
  .openapi('LintFinding');

export const CONFIRM_INPUT: z.ZodType<Confirm | 'session' | 'suspended' | null | undefined> = z
  .enum([...CONFIRMS, 'session', 'suspended'])
  .nullable()
  .optional()
  .openapi({
    description:
      'How often its calls must be confirmed; `first` and `session`: once per session. null: as `policy.confirm` says. `suspended` is ignored here.',
  });

const CACHE_MS = z.int().min(0).max(MAX_CACHE_MS);

export const CACHE_INPUT: z.ZodType<number | 'suspended' | null | undefined> = z
  .union([CACHE_MS, z.literal('suspended')])
  .nullable()
  .optional()
  .openapi({
    description:
      'How long its results are cached, in ms, if it is known to be read-only; 0: not cached. null: as `cache.ttlMs` says. `suspended` is ignored here.',
  });

export const TAGS_INPUT: z.ZodType<readonly string[] | null | undefined> = z
  .array(z.string())
  .superRefine((tags, context) => {
    const message = tagsFault(tags);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .nullable()
  .optional()
  .openapi({
    description: 'The operator’s tags, for use in rules; `private` and `outbound` have a special meaning.',
  });

export const TOOL: z.ZodObject = z
  .object({
    id: z.string().openapi({ description: 'Stable across refresh, restart and new registration.' }),
    name: z.string().openapi({ description: 'The name for clients.' }),
    namespacedName: z.string(),
    originalName: z.string().openapi({ description: 'The server’s own name for the tool.' }),
    serverName: z.string(),
    gatewayId: z.string(),
    refId: z.string(),
    digest: z.string(),
    title: z.string().optional(),
    description: z.string().optional(),
    original: z
      .object({ name: z.string(), description: z.string().optional(), needsReview: z.boolean() })
      .optional()
      .openapi({
        description:
          'The server’s own texts, if the operator replaced the name or description. `needsReview`: the server has changed them since.',
      }),
    confirm: z
      .enum([...CONFIRMS, 'suspended'])
      .optional()
      .openapi({ description: '`suspended`: it was set for a different definition and needs a review.' }),
    cacheMs: z
      .union([CACHE_MS, z.literal('suspended')])
      .optional()
      .openapi({ description: 'How long its results are cached, in ms. `suspended`: as for `confirm`.' }),
    tags: z
      .array(z.string())
      .optional()
      .openapi({ description: 'The operator’s tags, in addition to those of its gateway.' }),
    enabled: z.boolean(),
    state: z.enum(['enabled', 'disabled', 'withheld']).openapi({
      description: '`withheld`: not offered to any client, because none could read its definition.',
    }),
    withheld: z
      .object({ eras: z.array(z.enum(['legacy', 'modern'])), reason: z.string() })
      .optional()
      .openapi({ description: 'The client eras that the tool is not offered to, and why.' }),
    annotations: z
      .record(z.string(), z.unknown())
      .openapi({ description: 'The annotations sent to clients.' }),
    hints: HINTS_SCHEMA,
    source: z
      .enum(['mcp', 'rest', 'openapi', 'function'])
      .openapi({ description: 'The source of the tool.' }),
    url: z
      .string()
      .optional()
      .openapi({ description: 'Method and URL of the request that a REST tool sends.' }),
    method: z.string().optional(),
    methodOrigin: z.enum(['given', 'default']).optional().openapi({
      description: '`default`: no method was given, so POST is assumed and no hints are inferred from it.',
    }),
    headers: z.array(z.string()).optional().openapi({ description: 'Names only.' }),
    auth: z.object({ type: z.string() }).optional(),
    queryMapping: z.record(z.string(), z.string()).optional(),
    headerMapping: z.record(z.string(), z.string()).optional(),
    bodyType: z.enum(['json', 'form']).optional(),
    filter: z.string().optional(),
    timeoutMs: z.int().optional(),
    maxBytes: z.int().optional(),
    trust: z.object({ value: z.boolean(), origin: z.enum(['config_file', 'operator', 'default']) }),
    guarantee: z
      .object({ kind: z.enum(GUARANTEES), text: z.string() })
      .optional()
      .openapi({
        description:
          'Restrictions enforced on its calls, whatever its code does. Only in responses about one tool; docs/SANDBOX.md explains each kind.',
      }),
    lint: z.array(LINT),
    drift: DRIFT.optional(),
    verification: VERIFICATION.optional(),
    inputSchema: z.unknown().optional(),
    outputSchema: z.unknown().optional(),
    warnings: WARNINGS,
  })
  .openapi('Tool');
