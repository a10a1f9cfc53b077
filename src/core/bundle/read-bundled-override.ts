import { CONFIRMS } from '../confirm.ts';
import { type Hint, HINTS, isContradiction, type TrustRecord } from '../hints/hint.ts';
import type { Aspects } from '../hints/aspects.ts';
import {
  type CacheOverride,
  type ConfirmOverride,
  descriptionFault,
  MAX_CACHE_MS,
  type DescriptionOverride,
  type Override,
  publicNameFault,
  type TagsOverride,
} from '../hints/tool-record.ts';
import {
  addFault,
  fitTextAt,
  flagAt,
  isGiven,
  itemsAt,
  memberAt,
  membersAt,
  type JsonPosition,
  textAt,
  timeMsAt,
} from '../json-position.ts';
import { wholeNumber } from '../json-reader.ts';
import type { Refusal } from '../refusal.ts';
import { MAX_TAGS, tagFault } from '../tags.ts';
import { namespacedNameOf } from '../tool-ref.ts';
import type { BundledOverride } from './bundle.ts';
import { onlyMembers } from './read-sealed.ts';

const MAX_TITLE_LENGTH = 255;
const MAX_REASON_LENGTH = 1_000;
const MAX_ASPECT_LENGTH = 64;
const DIGEST = /^[0-9a-f]{64}$/;

/** Reads the overrides for one tool; problems are reported at their position. */
export function readBundledOverride(position: JsonPosition): BundledOverride {
  onlyMembers(position, [
    'server',
    'identity',
    'name',
    'hints',
    'title',
    'publicName',
    'description',
    'confirm',
    'cacheMs',
    'tags',
    'enabled',
  ]);
  const at = (name: string): JsonPosition => memberAt(position, name);
  const hints = isGiven(at('hints')) ? membersAt(at('hints')) : [];
  const overrides = hints.flatMap(readOverride);
  const title = isGiven(at('title')) ? fitTextAt(at('title'), titleFault) : undefined;
  const publicName = isGiven(at('publicName')) ? fitTextAt(at('publicName'), publicNameFault) : undefined;
  const description = isGiven(at('description')) ? readDescription(at('description')) : undefined;
  const confirm = isGiven(at('confirm')) ? readConfirm(at('confirm')) : undefined;
  const cacheMs = isGiven(at('cacheMs')) ? readCache(at('cacheMs')) : undefined;
  const tags = isGiven(at('tags')) ? readTags(at('tags')) : undefined;
  const isDisabled = !flagAt(at('enabled'), true);
  const isNamed = title !== undefined || publicName !== undefined || description !== undefined;
  const hasChoice = confirm !== undefined || cacheMs !== undefined || tags !== undefined;
  if (hints.length === 0 && !isNamed && !hasChoice && !isDisabled)
    addFault(
      position,
      'it has no effect on its tool: it must have hints, a title, a publicName, a description, confirm, cacheMs, tags, or enabled false',
    );
  return {
    server: textAt(at('server')),
    identity: textAt(at('identity')),
    name: textAt(at('name')),
    overrides: Object.fromEntries(overrides),
    ...(title !== undefined && { title }),
    ...(publicName !== undefined && { publicName }),
    ...(description !== undefined && { description }),
    ...(confirm !== undefined && { confirm }),
    ...(cacheMs !== undefined && { cacheMs }),
    ...(tags !== undefined && { tags }),
    ...(isDisabled && { isDisabled }),
  };
}

/**
 * The first tool in a bundle whose overrides contradict each other. The API rejects such overrides, so an import must
 * as well.
 */
export function contradictionIn(all: readonly BundledOverride[]): Refusal | undefined {
  const index = all.findIndex(({ overrides: { readOnlyHint, destructiveHint } }) =>
    isContradiction({
      ...(readOnlyHint && { readOnlyHint: readOnlyHint.value }),
      ...(destructiveHint && { destructiveHint: destructiveHint.value }),
    }),
  );
  const override = all[index];
  if (override === undefined) return undefined;
  const tool = namespacedNameOf(override.server, override.name);
  return { code: 'HINTS_CONTRADICT', tool, at: `/overrides/${index}/hints` };
}

export function readTrust(position: JsonPosition): TrustRecord {
  onlyMembers(position, ['server', 'identity', 'trust']);
  const at = (name: string): JsonPosition => memberAt(position, name);
  if (!isGiven(at('trust'))) addFault(at('trust'), 'it is missing');
  return {
    server: textAt(at('server')),
    identity: textAt(at('identity')),
    trust: flagAt(at('trust'), false),
  };
}

function readOverride([name, position]: readonly [string, JsonPosition]): readonly (readonly [
  Hint,
  Override,
])[] {
  const hint = HINTS.find((known) => known === name);
  if (hint === undefined) {
    addFault(position, `there is no such hint; known hints are ${HINTS.join(', ')}`);
    return [];
  }
  onlyMembers(position, ['value', 'author', 'at', 'reason', 'digest', 'seen']);
  const at = (member: string): JsonPosition => memberAt(position, member);
  for (const member of ['value', 'at']) if (!isGiven(at(member))) addFault(at(member), 'it is missing');
  const reason = isGiven(at('reason')) ? fitTextAt(at('reason'), reasonFault) : undefined;
  const override: Override = {
    value: flagAt(at('value'), false),
    author: textAt(at('author')),
    atMs: timeMsAt(at('at'), 0),
    ...(reason !== undefined && { reason }),
    digest: fitTextAt(at('digest'), digestFault),
    ...(isGiven(at('seen')) && { seen: readSeen(at('seen')) }),
  };
  return [[hint, override]];
}

function readDescription(position: JsonPosition): DescriptionOverride {
  onlyMembers(position, ['text', 'seen']);
  return {
    text: fitTextAt(memberAt(position, 'text'), descriptionFault),
    seen: fitTextAt(memberAt(position, 'seen'), aspectFault),
  };
}

function readConfirm(position: JsonPosition): ConfirmOverride {
  onlyMembers(position, ['value', 'digest', 'seen']);
  const at = (member: string): JsonPosition => memberAt(position, member);
  const value = fitTextAt(at('value'), (given) =>
    CONFIRMS.some((known) => known === given) ? undefined : `it must be one of ${CONFIRMS.join(', ')}`,
  );
  return {
    value: CONFIRMS.find((known) => known === value) ?? 'always',
    digest: fitTextAt(at('digest'), digestFault),
    seen: readSeen(at('seen')),
  };
}

function readCache(position: JsonPosition): CacheOverride {
  onlyMembers(position, ['value', 'digest', 'seen']);
  const at = (member: string): JsonPosition => memberAt(position, member);
  return {
    value: wholeNumber({ min: 0, max: MAX_CACHE_MS })(at('value')),
    digest: fitTextAt(at('digest'), digestFault),
    seen: readSeen(at('seen')),
  };
}

function readTags(position: JsonPosition): TagsOverride {
  onlyMembers(position, ['value', 'digest', 'seen']);
  const at = (member: string): JsonPosition => memberAt(position, member);
  const value = itemsAt(at('value')).map((item) => fitTextAt(item, tagFault));
  if (value.length === 0 || value.length > MAX_TAGS)
    addFault(at('value'), `it must have 1 to ${MAX_TAGS} tags`);
  return { value, digest: fitTextAt(at('digest'), digestFault), seen: readSeen(at('seen')) };
}

function readSeen(position: JsonPosition): Aspects {
  onlyMembers(position, ['behaviour', 'target', 'prose']);
  const text = (member: string): string => fitTextAt(memberAt(position, member), aspectFault);
  return { behaviour: text('behaviour'), target: text('target'), prose: text('prose') };
}

function titleFault(title: string): string | undefined {
  return title === '' || title.length > MAX_TITLE_LENGTH
    ? `it must have 1 to ${MAX_TITLE_LENGTH} characters`
    : undefined;
}

function reasonFault(reason: string): string | undefined {
  return reason.length > MAX_REASON_LENGTH
    ? `it may have at most ${MAX_REASON_LENGTH} characters`
    : undefined;
}

function aspectFault(text: string): string | undefined {
  return text.length > MAX_ASPECT_LENGTH ? `it may have at most ${MAX_ASPECT_LENGTH} characters` : undefined;
}

function digestFault(digest: string): string | undefined {
  return DIGEST.test(digest) ? undefined : 'it must be a SHA-256 in hexadecimal';
}
