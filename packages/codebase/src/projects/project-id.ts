import { createHash } from 'node:crypto';

/** A valid name of a project, which is also the name of its folder. */
export type ProjectId = string & { readonly __brand: 'ProjectId' };

/** The project of callers that neither name one nor work in a folder that has one. */
export const DEFAULT_PROJECT: ProjectId = 'default' as ProjectId;

export const PROJECT_ID_RULE =
  'lowercase letters, digits and single hyphens between them, 1 to 50 characters';

const PATTERN = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
const MAX_LENGTH = 50;
const DIGEST_LENGTH = 8;

/** Undefined if the text is not a valid id. A valid one contains nothing that a path or SQL could misread. */
export function parseProjectId(text: string): ProjectId | undefined {
  return text.length <= MAX_LENGTH && PATTERN.test(text) ? (text as ProjectId) : undefined;
}

/**
 * The id of a project whose config file gives only a name. The digest of its folder keeps projects of the same name
 * apart.
 */
export function computeProjectId(name: string, folder: string): ProjectId {
  const words = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_LENGTH - DIGEST_LENGTH - 1)
    .replace(/^-+|-+$/g, '');
  const digest = createHash('sha256').update(folder).digest('hex').slice(0, DIGEST_LENGTH);
  return (words === '' ? digest : `${words}-${digest}`) as ProjectId;
}
