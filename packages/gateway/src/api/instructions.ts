import * as z from 'zod';
import type { Data } from './data.ts';

/** The instructions of a server for models. */
export const INSTRUCTIONS = z
  .object({
    gatewayId: z.string(),
    serverName: z.string(),
    digest: z
      .string()
      .meta({ description: 'SHA-256 of the full accepted text, which may be longer than `text`.' }),
    text: z.string().meta({ description: 'The accepted text, as sent to models.' }),
    drift: z.object({ since: z.iso.datetime(), digest: z.string(), text: z.string() }).exactOptional().meta({
      description: 'The server’s current text. It is not sent to models before it has been reviewed.',
    }),
  })
  .meta({ id: 'Instructions' });

export type Instructions = Data<typeof INSTRUCTIONS>;

export const INSTRUCTIONS_LIST = z.object({ instructions: z.array(INSTRUCTIONS) });

export type InstructionsList = Data<typeof INSTRUCTIONS_LIST>;
