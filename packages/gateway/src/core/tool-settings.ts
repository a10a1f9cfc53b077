/** Maximum cache time: one day. */
export const MAX_CACHE_MS = 86_400_000;

/** A fault of an operator's description or name for a tool, as the end of a sentence. */
export function findToolDescriptionFault(text: string): string | undefined {
  return text === '' || text.length > MAX_DESCRIPTION_LENGTH
    ? `it must have 1 to ${MAX_DESCRIPTION_LENGTH} characters`
    : undefined;
}

export function findPublicNameFault(name: string): string | undefined {
  return /^[a-zA-Z0-9_-]{1,64}$/.test(name)
    ? undefined
    : 'it must be 1 to 64 letters, digits, underscores and hyphens';
}

const MAX_DESCRIPTION_LENGTH = 10_000;

export const MAX_TAGS = 20;
const MAX_TAG_LENGTH = 50;
// eslint-disable-next-line no-control-regex -- matches them on purpose
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** A fault of an operator's tag, as the end of a sentence. */
export function findTagFault(tag: string): string | undefined {
  if (tag.length < 1 || tag.length > MAX_TAG_LENGTH) return `it must have 1 to ${MAX_TAG_LENGTH} characters`;
  return CONTROL.test(tag) || !tag.isWellFormed() || tag.trim() !== tag
    ? 'it must not contain control characters, or begin or end with a space'
    : undefined;
}

/** A fault of all tags of one tool or server. */
export function findTagsFault(tags: readonly string[]): string | undefined {
  if (tags.length > MAX_TAGS) return `at most ${MAX_TAGS} tags are possible`;
  const wrong = tags.find((tag) => findTagFault(tag) !== undefined);
  return wrong === undefined ? undefined : `${JSON.stringify(wrong)}: ${findTagFault(wrong) ?? ''}`;
}

export function isTagList(value: unknown): value is readonly string[] {
  return (
    Array.isArray(value) &&
    value.every((tag) => typeof tag === 'string') &&
    findTagsFault(value) === undefined
  );
}
