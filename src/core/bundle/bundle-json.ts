import { HINTS } from '../hints/hint.ts';
import type { Aspects } from '../hints/aspects.ts';
import type {
  CacheOverride,
  ConfirmOverride,
  DescriptionOverride,
  Override,
  TagsOverride,
} from '../hints/tool-record.ts';
import type { PolicyRule } from '../policy/rule.ts';
import { toToolsetJson, type ToolsetJson } from '../toolset-json.ts';
import type { Bundle, BundledEntry, Entry, LeftOutOfBundle, BundledOverride, SealedText } from './bundle.ts';

/** The file format of a bundle. The same state gives the same bytes, except for `exportedAt` and `sealed`. */
export interface BundleJson {
  /** Format version. */
  readonly assay: 1;
  readonly exportedAt: string;
  readonly gateways: readonly EntryJson[];
  readonly tools: readonly EntryJson[];
  readonly functions: readonly EntryJson[];
  readonly trust: readonly { readonly server: string; readonly identity: string; readonly trust: boolean }[];
  readonly overrides: readonly BundledOverrideJson[];
  readonly toolsets: readonly ToolsetJson[];
  readonly equipped: string | null;
  readonly preferences: Entry;
  readonly policyRules?: readonly PolicyRule[];
  readonly sealed?: SealedText;
  /** What the export could not read. Informational; ignored on import. */
  readonly leftOut?: readonly LeftOutOfBundle[];
}

export interface EntryJson {
  readonly name: string;
  readonly entry: Entry;
  readonly withheld?: readonly string[];
  readonly createdAt: string;
  readonly createdBy: string;
}

export interface BundledOverrideJson {
  readonly server: string;
  readonly identity: string;
  readonly name: string;
  readonly hints?: Readonly<Record<string, OverrideJson>>;
  readonly title?: string;
  readonly publicName?: string;
  readonly description?: DescriptionOverride;
  readonly confirm?: ConfirmOverride;
  readonly cacheMs?: CacheOverride;
  readonly tags?: TagsOverride;
  readonly enabled?: false;
}

interface OverrideJson {
  readonly value: boolean;
  readonly author: string;
  readonly at: string;
  readonly reason?: string;
  readonly digest: string;
  readonly seen?: Aspects;
}

export interface BundleJsonOptions {
  readonly exportedMs: number;
  readonly sealed?: SealedText | undefined;
  readonly leftOut?: readonly LeftOutOfBundle[];
}

export function toBundleJson(
  bundle: Bundle,
  { exportedMs, sealed, leftOut = [] }: BundleJsonOptions,
): BundleJson {
  const { gateways, tools, functions, trust, overrides, toolsets, equipped, preferences, policyRules } =
    bundle;
  return {
    assay: 1,
    exportedAt: timeOf(exportedMs),
    gateways: sorted(gateways.map(toEntryJson), ({ name }) => [name]),
    tools: sorted(tools.map(toEntryJson), ({ name }) => [name]),
    functions: sorted(functions.map(toEntryJson), ({ name }) => [name]),
    trust: sorted(
      trust.map(({ server, identity, trust: isTrusted }) => ({ server, identity, trust: isTrusted })),
      ({ server, identity }) => [server, identity],
    ),
    overrides: sorted(overrides.map(toBundledOverrideJson), ({ server, identity, name }) => [
      server,
      identity,
      name,
    ]),
    toolsets: sorted(toolsets.map(toToolsetJson), ({ name }) => [name]),
    equipped: equipped ?? null,
    preferences: withSortedKeys(Object.fromEntries(preferences)),
    ...(policyRules.length > 0 && { policyRules }),
    ...(sealed !== undefined && { sealed }),
    ...(leftOut.length > 0 && { leftOut }),
  };
}

export function toEntryJson({ name, entry, withheld, createdMs, author }: BundledEntry): EntryJson {
  return {
    name,
    entry: withSortedKeys(entry),
    ...(withheld.length > 0 && { withheld: [...withheld].sort() }),
    createdAt: timeOf(createdMs),
    createdBy: author,
  };
}

export function toBundledOverrideJson({
  server,
  identity,
  name,
  overrides,
  title,
  publicName,
  description,
  confirm,
  cacheMs,
  tags,
  isDisabled,
}: BundledOverride): BundledOverrideJson {
  const hints = HINTS.flatMap((hint) => {
    const override = overrides[hint];
    return override === undefined ? [] : [[hint, overrideJson(override)] as const];
  });
  return {
    server,
    identity,
    name,
    ...(hints.length > 0 && { hints: Object.fromEntries(hints) }),
    ...(title !== undefined && { title }),
    ...(publicName !== undefined && { publicName }),
    ...(description !== undefined && { description: { text: description.text, seen: description.seen } }),
    ...(confirm !== undefined && { confirm }),
    ...(cacheMs !== undefined && { cacheMs }),
    ...(tags !== undefined && { tags }),
    ...(isDisabled === true && { enabled: false }),
  };
}

function overrideJson({ value, author, atMs, reason, digest, seen }: Override): OverrideJson {
  const given = { value, author, at: timeOf(atMs), ...(reason !== undefined && { reason }), digest };
  return seen === undefined ? given : { ...given, seen };
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}

/** Compares UTF-16 code units, so the order does not depend on the locale. */
function sorted<T>(items: readonly T[], keysOf: (item: T) => readonly string[]): readonly T[] {
  return items.toSorted((one, other) => order(keysOf(one), keysOf(other)));
}

/** Compares element by element: joining first could make two different lists equal. */
function order(one: readonly string[], other: readonly string[]): number {
  for (const [index, text] of one.entries()) {
    const beside = other[index] ?? '';
    if (text !== beside) return text < beside ? -1 : 1;
  }
  return 0;
}

function withSortedKeys(members: Entry): Entry {
  return Object.fromEntries(Object.entries(members).sort(([one], [other]) => (one < other ? -1 : 1)));
}
