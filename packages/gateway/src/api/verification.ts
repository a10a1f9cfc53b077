import * as z from 'zod';
import { HINTS } from '@assay-mcp/kit/hint';
import { OBSERVED_KINDS } from '../core/hints/tool-verification.ts';
import type { Data } from './data.ts';
import { mapHints } from './hint.ts';
import type { ProblemEvent } from './problem.ts';

const OBSERVED_HINT = z.object({
  verdict: z.enum(OBSERVED_KINDS),
  at: z.iso.datetime(),
  calls: z.int().exactOptional(),
  shapes: z
    .int()
    .exactOptional()
    .meta({ description: 'Number of distinct argument shapes among the calls.' }),
  reason: z.string().exactOptional().meta({ description: 'Why there is no verdict.' }),
  evidence: z
    .array(
      z.object({
        effect: z.string(),
        message: z.string(),
        target: z.string().meta({ description: 'File, address or host.' }),
        call: z.int().meta({ description: 'Number of the call with these arguments.' }),
        args: z.string().meta({ description: 'JSON text, possibly truncated.' }),
        at: z.iso.datetime(),
      }),
    )
    .exactOptional(),
});

export type ObservedHint = Data<typeof OBSERVED_HINT>;

/** What verifications observed about a tool. */
export const TOOL_VERIFICATION = z
  .object({
    isCurrent: z.boolean().meta({
      description: 'Whether it is about the current definition. Otherwise it has no effect on decisions.',
    }),
    digest: z.string(),
    at: z.iso.datetime(),
    by: z.string(),
    server: z.object({ name: z.string(), version: z.string(), packageDigest: z.string() }),
    mechanisms: z.array(z.string()).meta({ description: 'The mechanism that observed the server.' }),
    hints: z.object(mapHints(OBSERVED_HINT.exactOptional())),
    keepsState: z.boolean().exactOptional().meta({
      description:
        'Identical calls were answered differently until the process restarted: the tool keeps state in memory.',
    }),
  })
  .meta({
    id: 'ToolVerification',
    description: 'The observations of `assay verify`. No verdict means that the tool is safe.',
  });

export type ToolVerification = Data<typeof TOOL_VERIFICATION>;

/** The results of a verification in numbers. */
export const VERIFICATION_RESULT = z.object({
  server: z.string(),
  tools: z.int(),
  toolsWithSuccess: z.int(),
  calls: z.int(),
  mechanisms: z.array(z.string()),
  contradictions: z.array(
    z.object({
      tool: z.string().meta({ description: 'The server’s own name for the tool.' }),
      hint: z.enum(HINTS),
      message: z.string().meta({ description: 'The first effect.' }),
    }),
  ),
});

export type VerificationResult = Data<typeof VERIFICATION_RESULT>;

/** Server-sent events of a verification, by name. The last one is `result` or `refused`. */
export interface VerificationEvents {
  /** A tool was verified. */
  readonly progress: { readonly done: number; readonly total: number; readonly tool: string };
  readonly result: VerificationResult;
  readonly refused: ProblemEvent;
}
