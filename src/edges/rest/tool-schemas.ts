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
    origin: z.string().openapi({ description: 'Its name: a server, a module, a subject, a verification.' }),
    reason: z.string().optional(),
    at: z.iso.datetime().optional(),
    digest: z.string().openapi({ description: 'SHA-256 of the definition that it is about.' }),
    mayLower: z.boolean().openapi({ description: 'Whether it may lower caution in decisions.' }),
    suspended: z.string().optional().openapi({ description: 'Why it is not in effect at the moment.' }),
  })
  .openapi('Claim');

const HINT = z
  .object({
    effective: z.boolean().openapi({ description: 'The value that results from all claims.' }),
    decidedBy: z.enum(['declared', 'inferred', 'override', 'observed', 'implied', 'default']),
    reason: z.string(),
    reasonCode: z.string().openapi({ description: 'The same as a code.' }),
    decision: z
      .boolean()
      .openapi({ description: 'The value that decisions use: only trusted claims lower caution.' }),
    emitted: z.boolean().optional().openapi({ description: 'The value that clients see; absent: none.' }),
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
      .openapi({ description: 'What suspends overrides that lower caution until it is reviewed.' }),
    flags: z.array(z.string()).openapi({ description: 'What asks for a review alone.' }),
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
  shapes: z.int().optional().openapi({ description: 'Differently shaped arguments among the calls.' }),
  reason: z.string().optional().openapi({ description: 'Why nothing can be said.' }),
  evidence: z
    .array(
      z.object({
        effect: z.string(),
        message: z.string(),
        target: z.string().openapi({ description: 'File, address or host.' }),
        call: z.int().openapi({ description: 'Number of the call with these arguments.' }),
        args: z.string().openapi({ description: 'JSON text, or its start.' }),
        at: z.iso.datetime(),
      }),
    )
    .optional(),
});

const VERIFICATION = z
  .object({
    isCurrent: z.boolean().openapi({
      description: 'Whether it is about the current definition. Otherwise it decides nothing.',
    }),
    digest: z.string(),
    at: z.iso.datetime(),
    by: z.string(),
    server: z.object({ name: z.string(), version: z.string(), packageDigest: z.string() }),
    mechanisms: z.array(z.string()).openapi({ description: 'What watched the server.' }),
    hints: z.object(ofHints(OBSERVED.optional())),
    keepsState: z.boolean().optional().openapi({
      description:
        'Equal calls were answered differently until the process restarted: it keeps state in memory.',
    }),
  })
  .openapi('ToolVerification', {
    description: 'What `assay verify` observed. No verdict says that it is safe.',
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
      'How often its calls must be confirmed; first and session: once per session. null: by policy.confirm. suspended changes nothing.',
  });

const CACHE_MS = z.int().min(0).max(MAX_CACHE_MS);

export const CACHE_INPUT: z.ZodType<number | 'suspended' | null | undefined> = z
  .union([CACHE_MS, z.literal('suspended')])
  .nullable()
  .optional()
  .openapi({
    description:
      'How long in ms its results are used again, if it is known to be read-only; 0: not at all. null: by cache.ttlMs. suspended changes nothing.',
  });

export const TAGS_INPUT: z.ZodType<readonly string[] | null | undefined> = z
  .array(z.string())
  .superRefine((tags, context) => {
    const message = tagsFault(tags);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  })
  .nullable()
  .optional()
  .openapi({ description: 'Your tags, for rules; private and outbound have a meaning of their own.' });

export const TOOL: z.ZodObject = z
  .object({
    id: z.string().openapi({ description: 'The same after refresh, restart and new registration.' }),
    name: z.string().openapi({ description: 'As clients call it.' }),
    namespacedName: z.string(),
    originalName: z.string().openapi({ description: 'As its server calls it.' }),
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
          'What its server says where you replaced its name or description. needsReview: the server has changed its texts since.',
      }),
    confirm: z
      .enum([...CONFIRMS, 'suspended'])
      .optional()
      .openapi({ description: 'suspended: it was set for another definition, and waits for a review.' }),
    cacheMs: z
      .union([CACHE_MS, z.literal('suspended')])
      .optional()
      .openapi({ description: 'How long in ms its results are used again. suspended: as confirm.' }),
    tags: z.array(z.string()).optional().openapi({ description: 'Your tags, beside those of its gateway.' }),
    enabled: z.boolean(),
    state: z
      .enum(['enabled', 'disabled', 'withheld'])
      .openapi({ description: 'withheld: no client gets it, as none could read its definition.' }),
    withheld: z
      .object({ eras: z.array(z.enum(['legacy', 'modern'])), reason: z.string() })
      .optional()
      .openapi({ description: 'Clients of which eras do not get it, and why.' }),
    annotations: z.record(z.string(), z.unknown()).openapi({ description: 'What clients get.' }),
    hints: HINTS_SCHEMA,
    source: z.enum(['mcp', 'rest', 'openapi', 'function']).openapi({ description: 'What it is made of.' }),
    url: z.string().optional().openapi({ description: 'Of the request that a REST tool makes.' }),
    method: z.string().optional(),
    methodOrigin: z.enum(['given', 'default']).optional().openapi({
      description: '`default`: no method was given, so it is POST, and no hints are inferred from it.',
    }),
    headers: z.array(z.string()).optional().openapi({ description: 'Names alone.' }),
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
          'What holds for its calls, whatever its code does. Only where one tool is read; docs/SANDBOX.md explains each kind.',
      }),
    lint: z.array(LINT),
    drift: DRIFT.optional(),
    verification: VERIFICATION.optional(),
    inputSchema: z.unknown().optional(),
    outputSchema: z.unknown().optional(),
    warnings: WARNINGS,
  })
  .openapi('Tool');
