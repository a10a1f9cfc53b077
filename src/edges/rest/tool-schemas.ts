import { z } from '@hono/zod-openapi';
import { HINTS } from '../../core/hints/hint.ts';
import { LINT_RULES } from '../../core/hints/lint.ts';
import { WARNINGS } from './route.ts';

const CLAIM = z
  .object({
    value: z.boolean(),
    kind: z.enum(['declared', 'inferred', 'override', 'observed']),
    source: z
      .enum(['server', 'operator', 'config_file', 'document', 'module', 'rule', 'verification'])
      .openapi({ description: 'Where the claim comes from.' }),
    origin: z.string().openapi({ description: 'The server, module, subject or verification that made it.' }),
    reason: z.string().optional(),
    at: z.iso.datetime().optional(),
    digest: z.string().openapi({ description: 'SHA-256 of the definition that the claim is about.' }),
    mayLower: z
      .boolean()
      .openapi({ description: 'Whether decisions may become less cautious because of it.' }),
    suspended: z.string().optional().openapi({ description: 'Why it is currently without effect.' }),
  })
  .openapi('Claim');

const HINT = z
  .object({
    effective: z.boolean().openapi({ description: 'The value that results from all claims.' }),
    decidedBy: z.enum(['declared', 'inferred', 'override', 'observed', 'implied', 'default']),
    reason: z.string(),
    reasonCode: z.string().openapi({ description: 'The reason as a code.' }),
    decision: z
      .boolean()
      .openapi({ description: 'The value used for decisions, where only trusted claims lower caution.' }),
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
      .openapi({ description: 'Changes that suspend caution-lowering overrides until reviewed.' }),
    flags: z.array(z.string()).openapi({ description: 'Changes that only ask for a review.' }),
    isVolatile: z
      .boolean()
      .openapi({ description: 'Whether titles and descriptions change at each start of the server.' }),
    changes: z.array(
      z.object({ path: z.string(), before: z.string().optional(), after: z.string().optional() }),
    ),
    suspends: z
      .array(z.enum(HINTS))
      .openapi({ description: 'Hints whose override is suspended until review.' }),
  })
  .openapi('Drift');

const LINT = z
  .object({
    rule: z.enum(LINT_RULES),
    level: z.enum(['error', 'warning']),
    hint: z.enum(HINTS).optional(),
    says: z.string(),
    remedy: z.string(),
  })
  .openapi('LintFinding');

export const TOOL: z.ZodObject = z
  .object({
    id: z.string().openapi({ description: 'Stable across refresh, restart and re-registration.' }),
    name: z.string().openapi({ description: 'The name that clients see.' }),
    namespacedName: z.string(),
    originalName: z.string().openapi({ description: 'Its name on its server.' }),
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
    enabled: z.boolean(),
    state: z.enum(['enabled', 'disabled', 'withheld']).openapi({
      description: 'withheld: no client gets it, because clients could not read its definition.',
    }),
    withheld: z
      .object({ eras: z.array(z.enum(['legacy', 'modern'])), reason: z.string() })
      .optional()
      .openapi({ description: 'Which clients do not get it, and why.' }),
    annotations: z.record(z.string(), z.unknown()).openapi({ description: 'What clients see.' }),
    hints: HINTS_SCHEMA,
    source: z.enum(['mcp', 'rest', 'openapi', 'function']).openapi({ description: 'Where it comes from.' }),
    url: z.string().optional().openapi({ description: 'URL of the request that a REST tool sends.' }),
    method: z.string().optional(),
    methodOrigin: z.enum(['given', 'default']).optional().openapi({
      description: '`default`: no method was given, so POST is used and no hints are inferred.',
    }),
    headers: z.array(z.string()).optional().openapi({ description: 'Names, without values.' }),
    auth: z.object({ type: z.string() }).optional(),
    queryMapping: z.record(z.string(), z.string()).optional(),
    headerMapping: z.record(z.string(), z.string()).optional(),
    bodyType: z.enum(['json', 'form']).optional(),
    filter: z.string().optional(),
    timeoutMs: z.int().optional(),
    maxBytes: z.int().optional(),
    trust: z.object({ value: z.boolean(), origin: z.enum(['config_file', 'operator', 'default']) }),
    lint: z.array(LINT),
    drift: DRIFT.optional(),
    inputSchema: z.unknown().optional(),
    outputSchema: z.unknown().optional(),
    warnings: WARNINGS,
  })
  .openapi('Tool');
