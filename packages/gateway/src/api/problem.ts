import * as z from 'zod';
import type { RefusalCode } from '../core/refusal.ts';
import type { Data } from './data.ts';

/** The format of all errors. */
export const PROBLEM = z
  .object({
    type: z.string().meta({ description: 'Description of the code; relative to the request URL.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string().meta({ description: 'What happened, why, and what to do.' }),
    instance: z.string(),
    code: z.string().meta({ description: 'Stable: programs may rely on it.' }),
    causeCode: z
      .string()
      .exactOptional()
      .meta({ description: 'Code of the cause, if `detail` names one; `assay docs causes` lists all.' }),
    errors: z
      .array(
        z.object({
          pointer: z
            .string()
            .exactOptional()
            .meta({ description: 'JSON pointer (RFC 6901) into the request body.' }),
          parameter: z.string().exactOptional().meta({ description: 'Name of the query parameter.' }),
          detail: z.string(),
          code: z.string(),
        }),
      )
      .exactOptional(),
  })
  .meta({ id: 'Problem', description: 'An error (RFC 9457).' });

export type Problem = Data<typeof PROBLEM>;

/** A problem reported by this version. */
export type CodedProblem = Problem & { readonly code: RefusalCode };

/** An error in one field of a body. */
export type FieldProblem = NonNullable<Problem['errors']>[number];

/** The part of a problem that is the last event of a stream. */
export type ProblemEvent = Pick<Problem, 'title' | 'status' | 'detail' | 'code'>;
