import * as z from 'zod';
import { CONFIRMS } from '../core/confirm.ts';
import { HINTS } from '@assay-mcp/kit/hint';
import { LINT_RULES } from '../core/hints/lint.ts';
import { GUARANTEES } from '../core/guarantee.ts';
import { findTagsFault, MAX_CACHE_MS, findPublicNameFault } from '../core/tool-settings.ts';
import { OUTPUT_VALIDATIONS } from '../core/sources/output-validation.ts';
import { type Data, NEXT_CURSOR } from './data.ts';
import { mapHints } from './hint.ts';
import { TOOL_VERIFICATION } from './verification.ts';
import { WARNINGS } from './warnings.ts';

const HINT_CLAIM = z
  .object({
    value: z.boolean(),
    kind: z.enum(['declared', 'inferred', 'override', 'observed']),
    source: z
      .enum(['server', 'operator', 'config_file', 'document', 'module', 'rule', 'verification', 'study'])
      .meta({ description: 'The kind of party that made the claim.' }),
    origin: z
      .string()
      .meta({ description: 'Name of the claimant: a server, a module, a subject or a verification.' }),
    reason: z.string().exactOptional(),
    at: z.iso.datetime().exactOptional(),
    digest: z.string().meta({ description: 'SHA-256 of the definition that the claim is about.' }),
    mayLower: z.boolean().meta({ description: 'Whether the claim may lower caution in decisions.' }),
    suspended: z.string().exactOptional().meta({ description: 'Why the claim is not in effect now.' }),
  })
  .meta({ id: 'Claim' });

export type HintClaim = Data<typeof HINT_CLAIM>;

/** One hint of a tool, with all claims about it. */
export const TOOL_HINT = z
  .object({
    effective: z.boolean().meta({ description: 'The value that results from all claims.' }),
    decidedBy: z.enum(['declared', 'inferred', 'override', 'observed', 'implied', 'default']),
    reason: z.string(),
    reasonCode: z.string().meta({ description: 'The same, as a code.' }),
    decision: z
      .boolean()
      .meta({ description: 'The value used for decisions; only trusted claims lower caution.' }),
    emitted: z.boolean().exactOptional().meta({ description: 'The value that clients see. Absent: none.' }),
    isContradicted: z.boolean(),
    claims: z.array(HINT_CLAIM),
  })
  .meta({ id: 'Hint' });

export type ToolHint = Data<typeof TOOL_HINT>;

export const TOOL_HINTS = z.object(mapHints(TOOL_HINT));

/** How the definition of a tool differs from the accepted one. */
const DRIFT = z
  .object({
    since: z.iso.datetime(),
    severity: z.enum(['dangerous', 'review', 'harmless']),
    isDangerous: z.boolean(),
    dangers: z
      .array(z.string())
      .meta({ description: 'Changes that suspend caution-lowering overrides until they are reviewed.' }),
    flags: z.array(z.string()).meta({ description: 'Changes that only call for a review.' }),
    isVolatile: z
      .boolean()
      .meta({ description: 'Whether titles and descriptions change at each start of the server.' }),
    changes: z
      .array(
        z.object({
          path: z.string(),
          before: z.string().exactOptional(),
          after: z.string().exactOptional(),
        }),
      )
      .meta({
        description:
          'By path. `before` and `after` are JSON texts, absent if the member did not or does not exist.',
      }),
    suspends: z.array(z.enum(HINTS)).meta({ description: 'Hints whose override waits for a review.' }),
  })
  .meta({ id: 'Drift' });

export type Drift = Data<typeof DRIFT>;

const LINT_FINDING = z
  .object({
    rule: z.enum(LINT_RULES),
    level: z.enum(['error', 'warning']),
    hint: z.enum(HINTS).exactOptional(),
    message: z.string(),
    remedy: z.string(),
  })
  .meta({ id: 'LintFinding' });

const GUARANTEE = z.object({ kind: z.enum(GUARANTEES), text: z.string() });

export type GuaranteeKind = Data<typeof GUARANTEE>['kind'];

/** A tool. Texts from servers are as sent. */
export const TOOL = z
  .object({
    id: z.string().meta({ description: 'Stable across refresh, restart and new registration.' }),
    name: z.string().meta({ description: 'The name for clients.' }),
    namespacedName: z.string(),
    originalName: z.string().meta({ description: 'The server’s own name for the tool.' }),
    serverName: z.string(),
    gatewayId: z.string(),
    refId: z.string(),
    digest: z.string(),
    title: z.string().exactOptional(),
    description: z.string().exactOptional(),
    original: z
      .object({ name: z.string(), description: z.string().exactOptional(), needsReview: z.boolean() })
      .exactOptional()
      .meta({
        description:
          'The server’s own texts, if the operator replaced the name or description. `needsReview`: the server has changed them since.',
      }),
    confirm: z
      .enum([...CONFIRMS, 'suspended'])
      .exactOptional()
      .meta({ description: '`suspended`: it was set for a different definition and needs a review.' }),
    cacheMs: z
      .union([z.int().min(0), z.literal('suspended')])
      .exactOptional()
      .meta({ description: 'How long its results are cached, in ms. `suspended`: as for `confirm`.' }),
    tags: z
      .array(z.string())
      .exactOptional()
      .meta({ description: 'The operator’s tags, in addition to those of its gateway.' }),
    enabled: z.boolean(),
    state: z.enum(['enabled', 'disabled', 'withheld']).meta({
      description: '`withheld`: not offered to any client, because none could read its definition.',
    }),
    withheld: z
      .object({ eras: z.array(z.enum(['legacy', 'modern'])), reason: z.string() })
      .exactOptional()
      .meta({ description: 'The client eras that the tool is not offered to, and why.' }),
    annotations: z.record(z.string(), z.unknown()).meta({ description: 'The annotations sent to clients.' }),
    hints: TOOL_HINTS,
    source: z.enum(['mcp', 'rest', 'openapi', 'function']).meta({ description: 'The source of the tool.' }),
    url: z
      .string()
      .exactOptional()
      .meta({ description: 'Method and URL of the request that a REST tool sends.' }),
    method: z.string().exactOptional(),
    methodOrigin: z.enum(['given', 'default']).exactOptional().meta({
      description: '`default`: no method was given, so POST is assumed and no hints are inferred from it.',
    }),
    headers: z.array(z.string()).exactOptional().meta({ description: 'Names only.' }),
    auth: z.object({ type: z.string() }).exactOptional(),
    queryMapping: z.record(z.string(), z.string()).exactOptional(),
    headerMapping: z.record(z.string(), z.string()).exactOptional(),
    bodyType: z.enum(['json', 'form']).exactOptional(),
    filter: z.string().exactOptional(),
    timeoutMs: z.int().exactOptional(),
    maxBytes: z.int().exactOptional(),
    outputValidation: z.enum(OUTPUT_VALIDATIONS).exactOptional(),
    trust: z.object({ value: z.boolean(), origin: z.enum(['config_file', 'operator', 'default']) }),
    guarantee: GUARANTEE.exactOptional().meta({
      description:
        'Restrictions enforced on its calls, whatever its code does. Only in responses about one tool; `assay docs sandbox` explains each kind.',
    }),
    lint: z.array(LINT_FINDING),
    suggested: z
      .object({ readOnlyHint: z.literal(true) })
      .exactOptional()
      .meta({
        description:
          'Hints guessed from the name of a tool that has none. They count for nothing until an operator sets them; absent if its description or schema speaks of writing.',
      }),
    drift: DRIFT.exactOptional(),
    verification: TOOL_VERIFICATION.exactOptional(),
    inputSchema: z.unknown().optional(),
    outputSchema: z.unknown().optional(),
    warnings: WARNINGS,
  })
  .meta({ id: 'Tool' });

export type Tool = Data<typeof TOOL>;

const MAX_TITLE_LENGTH = 255;
const MAX_REASON_LENGTH = 1_000;

const TITLE = z.string().min(1).max(MAX_TITLE_LENGTH).nullable().optional();

const CONFIRM_INPUT = z
  .enum([...CONFIRMS, 'session', 'suspended'])
  .nullable()
  .optional()
  .meta({
    description:
      'How often its calls must be confirmed; `first` and `session`: once per session. null: as `policy.confirm` says. `suspended` is ignored here.',
  });

const CACHE_MS = z.int().min(0).max(MAX_CACHE_MS);

const CACHE_INPUT = z
  .union([CACHE_MS, z.literal('suspended')])
  .nullable()
  .optional()
  .meta({
    description:
      'How long its results are cached, in ms, if it is known to be read-only; 0: not cached. null: as `cache.ttlMs` says. `suspended` is ignored here.',
  });

/** The operator's tags of a tool or of all tools of a gateway. */
export const TAGS_INPUT = z
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

/** What an operator sets for a tool. Absent members stay as they are. */
export const TOOL_SETTINGS = z.object({
  annotations: z
    .object({ title: TITLE, ...mapHints(z.boolean().nullable().optional()) })
    .optional()
    .meta({ description: 'Overrides of the annotations; null removes one.' }),
  title: TITLE,
  name: z
    .string()
    .superRefine((name, context) => {
      const message = findPublicNameFault(name);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .nullable()
    .optional()
    .meta({
      description: 'The name for clients, after the prefix of its server. null: the server’s own name.',
    }),
  confirm: CONFIRM_INPUT,
  cacheMs: CACHE_INPUT,
  tags: TAGS_INPUT,
  enabled: z.boolean().optional().meta({ description: 'Whether clients can list and call it.' }),
  reason: z
    .string()
    .max(MAX_REASON_LENGTH)
    .optional()
    .meta({ description: 'The reason for the change, kept with it.' }),
});

export type ToolSettings = Data<typeof TOOL_SETTINGS>;

const TEXTS = z.record(z.string(), z.string());
const SCHEMA = z.record(z.string(), z.unknown());

const AUTH = z
  .object({
    type: z.string().meta({ description: 'bearer, basic, header or query' }),
    token: z.string().optional(),
    username: z.string().optional(),
    password: z.string().optional(),
    name: z.string().optional(),
    value: z.string().optional(),
  })
  .meta({ description: 'Stored encrypted and never returned.' });

/** The fields that define a tool's HTTP request. */
export const REQUEST_FIELDS = {
  url: z.string().nullable().optional().meta({
    description: 'An absolute URL; `{argument}` in its path or query is replaced by that argument.',
  }),
  method: z.string().nullable().optional(),
  description: z.string().nullable().optional(),
  headers: TEXTS.nullable().optional(),
  auth: AUTH.nullable().optional(),
  inputSchema: SCHEMA.nullable().optional(),
  outputSchema: SCHEMA.nullable().optional(),
  queryMapping: TEXTS.nullable().optional(),
  headerMapping: TEXTS.nullable().optional(),
  bodyType: z.string().nullable().optional(),
  filter: z.string().nullable().optional().meta({ description: 'A JMESPath expression.' }),
  timeoutMs: z.int().nullable().optional(),
  maxBytes: z.int().nullable().optional(),
  outputValidation: z.enum(OUTPUT_VALIDATIONS).nullable().optional(),
};

export const TOOL_CREATE = z
  .object({
    name: z.string(),
    title: z.string().optional(),
    ...REQUEST_FIELDS,
    annotations: z.object({ title: z.string().optional(), ...mapHints(z.boolean().optional()) }).optional(),
  })
  .meta({ id: 'ToolCreate' });

/** The body that creates a REST tool. */
export type ToolCreate = Data<typeof TOOL_CREATE>;

export const TOOL_INPUT = z.object({ ...REQUEST_FIELDS, ...TOOL_SETTINGS.shape }).meta({ id: 'ToolInput' });

export const MAX_SUMMARY_LENGTH = 500;

/** The part of a tool that lists show. */
const TOOL_SUMMARY = TOOL.pick({
  id: true,
  name: true,
  namespacedName: true,
  serverName: true,
  title: true,
  state: true,
})
  .extend({
    description: z
      .string()
      .exactOptional()
      .meta({ description: `The first ${MAX_SUMMARY_LENGTH} characters.` }),
    hints: z.object(
      mapHints(TOOL_HINT.pick({ effective: true, decision: true, decidedBy: true, isContradicted: true })),
    ),
    isConsistent: z.literal(true).exactOptional().meta({
      description: 'A verification of this definition saw it do what a hint says, and contradicted none.',
    }),
    studied: z.string().exactOptional().meta({
      description:
        'What the study that ships with Assay saw of exactly these installed files and this definition: `version 1.2.3 was seen to only read in 14 calls`.',
    }),
    lint: z.array(LINT_FINDING.pick({ rule: true, level: true })),
    drift: DRIFT.pick({ isDangerous: true }).exactOptional(),
  })
  .meta({ id: 'ToolSummary' });

export type ToolSummary = Data<typeof TOOL_SUMMARY>;

export const TOOL_PAGE = z.object({
  tools: z.array(z.union([TOOL, TOOL_SUMMARY])),
  total: z.int().meta({ description: 'Number of matches on all pages.' }),
  nextCursor: NEXT_CURSOR,
});

/** `ToolSummary` with `?summary=true`. */
export interface ToolPage<T extends Tool | ToolSummary = Tool> {
  readonly tools: readonly T[];
  readonly total: number;
  readonly nextCursor?: string;
}
