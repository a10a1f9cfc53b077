import { z } from 'zod';
import { PROJECT_ID_RULE, parseProjectId } from '../projects/project-id.ts';

/** An optional `project_id`. */
export function createProjectArgument(description: string): z.ZodType<string | undefined> {
  return z
    .string('It must be a string')
    .refine((text) => parseProjectId(text) !== undefined, `It must be ${PROJECT_ID_RULE}, such as "my-app"`)
    .meta({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', minLength: 1, maxLength: 50 })
    .optional()
    .describe(description);
}
