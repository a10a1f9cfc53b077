import * as z from 'zod';
import type { Data } from './data.ts';

/** Whether test notices could be sent. */
export const NOTICE_TEST = z
  .object({
    results: z.array(
      z.object({
        setting: z.string(),
        target: z.string().meta({ description: 'The origin of the URL, or the program.' }),
        fault: z.string().exactOptional().meta({ description: 'Why it could not be sent. Absent: it was.' }),
      }),
    ),
  })
  .meta({ id: 'NoticeTest' });

export type NoticeTest = Data<typeof NOTICE_TEST>;
