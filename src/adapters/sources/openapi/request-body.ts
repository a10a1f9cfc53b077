import { isMembers } from '../../../core/canonical-json.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import { memberAt, type Documents, type Located } from './documents.ts';
import type { Operation } from './operations.ts';

export type BodyKind = 'json' | 'form' | 'multipart' | 'text' | 'bytes';

/** What an operation takes as the body of its request. */
export interface RequestBody {
  readonly kind: BodyKind;
  /** As the document has it, without a wildcard. */
  readonly mediaType: string;
  readonly isRequired: boolean;
  readonly schema: Located | undefined;
  readonly description?: string | undefined;
  /** How members of a form are written, by their names. */
  readonly encoding: Readonly<Record<string, unknown>>;
}

/** What Assay can write, the most exact first. */
const KINDS: readonly (readonly [BodyKind, RegExp, string])[] = [
  ['json', /^application\/json$/, 'application/json'],
  ['json', /^[^/]+\/[^/]+\+json$/, ''],
  ['form', /^application\/x-www-form-urlencoded$/, ''],
  ['multipart', /^multipart\/form-data$/, ''],
  ['json', /^(\*|application)\/\*$/, 'application/json'],
  ['text', /^text\/(?!\*)[^/]+$/, ''],
  ['text', /^text\/\*$/, 'text/plain'],
  ['text', /^(application\/xml|[^/]+\/[^/]+\+xml)$/, ''],
  ['bytes', /^[\w.+-]+\/[\w.+-]+$/, ''],
];

/** A body has no meaning there (RFC 9110, section 9.3.1), and the specification says to ignore one. */
const WITHOUT_BODY = new Set(['GET', 'HEAD']);

/** The error is a phrase: why the operation cannot be called. */
export function requestBodyOf(
  operation: Operation,
  documents: Documents,
): Result<RequestBody | undefined, string> {
  const declared = memberAt(operation.located, 'requestBody');
  if (declared === undefined || WITHOUT_BODY.has(operation.method)) return ok(undefined);
  const end = documents.follow(declared);
  if (!end.ok) return end;
  const { value: body } = end.value;
  const content = memberAt(end.value, 'content');
  if (!isMembers(body) || content === undefined || !isMembers(content.value))
    return err('its body has no content');
  const types = Object.keys(content.value);
  if (types.length === 0) return ok(undefined);
  for (const [kind, pattern, sent] of KINDS) {
    const type = types.find((one) => pattern.test(bare(one)));
    const media = type === undefined ? undefined : memberAt(content, type);
    if (type === undefined || media === undefined) continue;
    const { description, required } = body;
    const encoding = memberAt(media, 'encoding')?.value;
    return ok({
      kind,
      mediaType: sent === '' || (kind === 'json' && bare(type) === sent) ? type.trim() : sent,
      isRequired: required === true,
      schema: memberAt(media, 'schema'),
      description: typeof description === 'string' && description.trim() !== '' ? description : undefined,
      encoding: isMembers(encoding) ? encoding : {},
    });
  }
  return err(`its body is ${types.join(' or ')}, which is not supported`);
}

/** Without parameters, in small letters. */
export function bare(mediaType: string): string {
  return (mediaType.split(';')[0] ?? '').trim().toLowerCase();
}
