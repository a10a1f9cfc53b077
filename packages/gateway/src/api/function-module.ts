import * as z from 'zod';
import type { Data } from './data.ts';

/** A module whose exports are tools. */
export const FUNCTION_MODULE = z
  .object({
    path: z.string(),
    origin: z
      .enum(['config_file', 'registered'])
      .meta({ description: 'Modules of the config file are read-only here.' }),
    env: z.array(z.string()).meta({ description: 'Names only.' }),
    reads: z.array(z.string()),
    writes: z.array(z.string()),
    memoryMb: z.int(),
    timeoutMs: z.int(),
    faults: z.array(z.string()).meta({ description: 'Why the module, or one of its tools, cannot be used.' }),
  })
  .meta({ id: 'FunctionModule' });

export type FunctionModule = Data<typeof FUNCTION_MODULE>;
