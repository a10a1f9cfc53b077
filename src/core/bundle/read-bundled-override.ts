import { CONFIRMS } from '../confirm.ts';
import type { Aspects } from '../hints/aspects.ts';
import { isContradiction, type TrustRecord } from '../hints/hint.ts';
import {
  type CallChoice,
  findToolDescriptionFault,
  type DescriptionOverride,
  MAX_CACHE_MS,
  type Override,
  findPublicNameFault,
} from '../hints/tool-record.ts';
import { addFault } from '../json-position.ts';
import {
  fitText,
  flag,
  list,
  object,
  oneOf,
  optional,
  type Reader,
  text,
  textUpTo,
  time,
  wholeNumber,
} from '../json-reader.ts';
import type { Refusal } from '../refusal.ts';
import { MAX_TAGS, findTagFault } from '../tags.ts';
import { formatNamespacedName } from '../tool-ref.ts';
import type { BundledOverride } from './bundle.ts';

const MAX_TITLE_LENGTH = 255;
const MAX_REASON_LENGTH = 1_000;
const MAX_ASPECT_LENGTH = 64;
const DIGEST = /^[0-9a-f]{64}$/;

const aspect = fitText(atMost(MAX_ASPECT_LENGTH));
const seen = object<Aspects>({ behaviour: aspect, target: aspect, prose: aspect });
const digest = fitText((given) => (DIGEST.test(given) ? undefined : 'it must be a SHA-256 in hexadecimal'));
const someTags = list(fitText(findTagFault));

const tags: Reader<readonly string[]> = (position) => {
  const read = someTags(position);
  if (read.length === 0 || read.length > MAX_TAGS) addFault(position, `it must have 1 to ${MAX_TAGS} tags`);
  return read;
};

const writtenHint = object({
  value: flag,
  author: text,
  at: time,
  reason: optional(fitText(atMost(MAX_REASON_LENGTH))),
  digest,
  seen: optional(seen),
});

const hint = optional<Override>((position) => {
  const { at, ...override } = writtenHint(position);
  return { ...override, atMs: at };
});

const written = object({
  server: text,
  identity: text,
  name: text,
  hints: optional(
    object({ readOnlyHint: hint, destructiveHint: hint, idempotentHint: hint, openWorldHint: hint }),
  ),
  title: optional(textUpTo(MAX_TITLE_LENGTH)),
  publicName: optional(fitText(findPublicNameFault)),
  description: optional(
    object<DescriptionOverride>({ text: fitText(findToolDescriptionFault), seen: aspect }),
  ),
  confirm: optional(choice(oneOf(CONFIRMS))),
  cacheMs: optional(choice(wholeNumber({ min: 0, max: MAX_CACHE_MS }))),
  tags: optional(choice(tags)),
  enabled: optional(flag),
});

/** The overrides for one tool. */
export const bundledOverride: Reader<BundledOverride> = (position) => {
  const before = position.faults.length;
  const { hints = {}, enabled = true, server, identity, name, ...changes } = written(position);
  const hasEffect = !enabled || Object.keys(hints).length + Object.keys(changes).length > 0;
  if (!hasEffect && position.faults.length === before)
    addFault(
      position,
      'it has no effect on its tool: it must have hints, a title, a publicName, a description, confirm, cacheMs, tags, or enabled false',
    );
  return { server, identity, name, overrides: hints, ...changes, ...(!enabled && { isDisabled: true }) };
};

/**
 * The first tool in a bundle whose overrides contradict each other. The API rejects such overrides, so an import must
 * as well.
 */
export function findContradiction(all: readonly BundledOverride[]): Refusal | undefined {
  const index = all.findIndex(({ overrides: { readOnlyHint, destructiveHint } }) =>
    isContradiction({
      ...(readOnlyHint && { readOnlyHint: readOnlyHint.value }),
      ...(destructiveHint && { destructiveHint: destructiveHint.value }),
    }),
  );
  const override = all[index];
  if (override === undefined) return undefined;
  const tool = formatNamespacedName(override.server, override.name);
  return { code: 'HINTS_CONTRADICT', tool, at: `/overrides/${index}/hints` };
}

export const bundledTrust: Reader<TrustRecord> = object<TrustRecord>({
  server: text,
  identity: text,
  trust: flag,
});

/** A choice with the definition that the operator saw. */
function choice<T>(value: Reader<T>): Reader<CallChoice<T>> {
  return object<CallChoice<T>>({ value, digest, seen });
}

function atMost(max: number): (given: string) => string | undefined {
  return (given) => (given.length > max ? `it may have at most ${max} characters` : undefined);
}
