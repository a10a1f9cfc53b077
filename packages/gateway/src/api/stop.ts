import * as z from 'zod';
import { findStopReasonFault, STOP_KINDS } from '../core/stops.ts';
import type { Data } from './data.ts';

/** What an operator has stopped, and what its end releases. */
export const STOP = z
  .object({
    id: z.string(),
    kind: z.enum(STOP_KINDS),
    server: z.string().exactOptional().meta({ description: 'Absent for all calls.' }),
    tool: z.string().exactOptional().meta({ description: 'The namespaced name of a tool.' }),
    by: z.string().meta({ description: 'The subject that stopped it.' }),
    at: z.iso.datetime(),
    reason: z.string().exactOptional(),
    releases: z
      .object({
        tools: z.int(),
        destructive: z.array(z.string()).meta({
          description: 'Those that may make destructive changes by their effective hints; at most 100 names.',
        }),
        destructiveCount: z.int(),
        names: z.array(z.string()).meta({ description: 'At most 100 names.' }),
        unlisted: z
          .array(z.string())
          .meta({ description: 'Servers that it releases, whose tools are not known now.' }),
      })
      .meta({ description: 'Tools that can be called again once this stop, and no other, has ended.' }),
  })
  .meta({ id: 'Stop' });

export type StopView = Data<typeof STOP>;

export const STOP_LIST = z.object({ stops: z.array(STOP) }).meta({ id: 'Stops' });

export type StopList = Data<typeof STOP_LIST>;

const REASON = z.string().superRefine((text, context) => {
  const fault = findStopReasonFault(text);
  if (fault !== undefined) context.addIssue({ code: 'custom', message: fault });
});

export const STOP_INPUT = z
  .object({
    allCalls: z.literal(true).exactOptional(),
    server: z.string().exactOptional().meta({ description: 'The name or id of a gateway.' }),
    tool: z.string().exactOptional().meta({ description: 'The id, namespaced or public name of a tool.' }),
    reason: REASON.exactOptional().meta({
      description: 'Why, at most 300 characters. Shown to callers, including models.',
    }),
  })
  .refine(
    ({ allCalls, server, tool }) => [allCalls, server, tool].filter((one) => one !== undefined).length === 1,
    {
      error: 'give exactly one of allCalls, server and tool',
    },
  )
  .meta({ id: 'StopInput', description: 'Exactly one of allCalls, server and tool.' });

export type StopInput = Data<typeof STOP_INPUT>;

/** What is stopped now, without what its end releases. */
export const ACTIVE_STOP = STOP.omit({ releases: true }).meta({ id: 'ActiveStop' });

export type ActiveStop = Data<typeof ACTIVE_STOP>;
