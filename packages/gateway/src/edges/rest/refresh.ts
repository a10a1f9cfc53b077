import * as z from 'zod';

/** The query parameter of lists that a command without a running gateway may answer from what was last listed. */
export const REFRESH: z.ZodOptional<z.ZodEnum<{ true: 'true'; false: 'false' }>> = z
  .enum(['true', 'false'])
  .optional()
  .meta({
    description:
      '`true`: a command without a running gateway also starts servers whose tools are known. A running gateway keeps its lists up to date.',
  });
