import { CONFIRMS } from '../../../src/core/confirm.ts';
import fc from 'fast-check';
import type { BundledEntry, BundleRecord } from '../../../src/core/bundle/bundle.ts';
import { sha256 } from '@assay-mcp/kit/digest';
import { HINTS } from '@assay-mcp/kit/hint';
import type { ToolOverrides } from '../../../src/core/hints/tool-record.ts';
import type { PolicyRule } from '../../../src/core/policy/rule.ts';
import type { Note } from '../../../src/core/notes.ts';
import { computeRefId } from '../../../src/core/record-ids.ts';
import { hashDefinition } from '@assay-mcp/kit/digest';
import type { Toolset, ToolsetTool } from '../../../src/core/toolset.ts';

/** Includes what no keyboard produces: empty strings, U+0000, lone surrogates, names of Object.prototype. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('', '\u0000', '\ud800', '__proto__', 'constructor', 'a.b', 'a/b~c'),
);
/** V8 13.6 confuses the keys `\` and `"` in the same position once it has read `\`, so keys have no backslash. */
const key = text.map((given) => given.replaceAll('\\', '/'));
const stringUnit = fc.string({ minLength: 1, maxLength: 1 }).filter((unit) => unit !== '\\');
const timeMs = fc.integer({ min: 0, max: 4_000_000_000_000 });

const entry: fc.Arbitrary<BundledEntry> = fc
  .record({
    name: text,
    entry: fc.dictionary(key, fc.jsonValue({ maxDepth: 3, stringUnit }) as fc.Arbitrary<unknown>, {
      maxKeys: 4,
    }),
    withheld: fc.uniqueArray(text, { maxLength: 3 }),
    createdMs: timeMs,
    author: text,
  })
  .map(({ withheld: given, ...one }) => {
    const withheld = given.filter((name) => !Object.hasOwn(one.entry, name)).sort();
    return withheld.length === 0 ? one : { ...one, withheld };
  });

const override = fc.record(
  { value: fc.boolean(), author: text, atMs: timeMs, reason: text, digest: text.map(sha256) },
  { requiredKeys: ['value', 'author', 'atMs', 'digest'] },
);

const toolOverride: fc.Arbitrary<ToolOverrides> = fc
  .record({
    server: text,
    identity: text,
    name: text,
    overrides: fc.uniqueArray(fc.tuple(fc.constantFrom(...HINTS), override), { selector: ([hint]) => hint }),
    title: fc.option(fc.string({ minLength: 1, maxLength: 20 }), { nil: undefined }),
    confirm: fc.option(
      fc.record({
        value: fc.constantFrom(...CONFIRMS),
        digest: text.map(sha256),
        seen: fc.record({ behaviour: text, target: text, prose: text }),
      }),
      { nil: undefined },
    ),
    cacheMs: fc.option(
      fc.record({
        value: fc.nat({ max: 86_400_000 }),
        digest: text.map(sha256),
        seen: fc.record({ behaviour: text, target: text, prose: text }),
      }),
      { nil: undefined },
    ),
    tags: fc.option(
      fc.record({
        value: fc.array(fc.stringMatching(/^[a-z]{1,50}$/), { minLength: 1, maxLength: 20 }),
        digest: text.map(sha256),
        seen: fc.record({ behaviour: text, target: text, prose: text }),
      }),
      { nil: undefined },
    ),
    isDisabled: fc.boolean(),
  })
  .map(({ overrides, title, confirm, cacheMs, tags, isDisabled, ...of }) => ({
    ...of,
    overrides: Object.fromEntries(
      [...overrides].sort(([one], [other]) => HINTS.indexOf(one) - HINTS.indexOf(other)),
    ),
    ...(title !== undefined && { title }),
    ...(confirm !== undefined && { confirm }),
    ...(cacheMs !== undefined && { cacheMs }),
    ...(tags !== undefined && { tags }),
    ...((isDisabled || (overrides.length === 0 && title === undefined)) && { isDisabled: true }),
  }));

const note: fc.Arbitrary<Note> = fc.record({
  name: fc.stringMatching(/^[a-z0-9-]{1,8}$/),
  note: fc.string({ minLength: 1, maxLength: 20 }).map((given) => `.${given}`),
  author: text,
  by: fc.constantFrom('model', 'operator'),
  writtenMs: timeMs,
  isHeld: fc.boolean(),
});

const tool: fc.Arbitrary<ToolsetTool> = fc
  .record({
    namespacedName: text.map((name) => `s.${name}`),
    definition: fc.option(fc.json({ maxDepth: 2 }), { nil: undefined }),
  })
  .map(({ namespacedName, definition }) => {
    if (definition === undefined) return { namespacedName };
    const digest = hashDefinition(definition);
    return { namespacedName, held: { refId: computeRefId('s', digest), digest, text: definition } };
  });

const toolset: fc.Arbitrary<Toolset> = fc
  .record({
    name: fc.stringMatching(/^[a-z0-9-]{2,10}$/).filter((name) => name !== 'all'),
    description: fc.option(fc.string({ maxLength: 20 }), { nil: undefined }),
    createdMs: timeMs,
    changedMs: timeMs,
    tools: fc.uniqueArray(tool, { maxLength: 4, selector: ({ namespacedName }) => namespacedName }),
    toolNotes: fc.uniqueArray(
      fc.record({
        namespacedName: text,
        notes: fc.uniqueArray(note, { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
      }),
      { maxLength: 3, selector: ({ namespacedName }) => namespacedName },
    ),
  })
  .map(({ description, ...rest }) => ({ ...rest, ...(description !== undefined && { description }) }));

const settings = fc.record(
  {
    'limits.drainMs': fc.integer({ min: 0, max: 1_000 }),
    enableConfigToolsMenu: fc.boolean(),
    'notes.review': fc.constantFrom('auto', 'always', 'never'),
  },
  { requiredKeys: [] },
);

const patterns = fc.array(fc.string({ minLength: 1, maxLength: 10 }), { minLength: 1, maxLength: 2 });
const policyRule: fc.Arbitrary<PolicyRule> = fc.record(
  {
    effect: fc.constantFrom('allow', 'ask', 'refuse'),
    name: fc.string({ minLength: 1, maxLength: 10 }),
    server: patterns,
    token: patterns,
    hints: fc.constant({ readOnlyHint: true }),
  },
  { requiredKeys: ['effect'] },
);

const entries = fc.uniqueArray(entry, { maxLength: 4, selector: ({ name }) => name });

/** Any state that operators can create, each kind after those it refers to. */
export const arbitraryRecords: fc.Arbitrary<readonly BundleRecord[]> = fc
  .record({
    gateways: entries,
    tools: entries,
    functions: entries,
    trust: fc.uniqueArray(fc.record({ server: text, identity: text, trust: fc.boolean() }), {
      maxLength: 3,
      selector: ({ server, identity }) => JSON.stringify([server, identity]),
    }),
    overrides: fc.uniqueArray(toolOverride, {
      maxLength: 4,
      selector: ({ server, identity, name }) => JSON.stringify([server, identity, name]),
    }),
    toolsets: fc.uniqueArray(toolset, { maxLength: 3, selector: ({ name }) => name }),
    isEquipped: fc.boolean(),
    settings,
    rules: fc.array(policyRule, { maxLength: 2 }),
  })
  .map((all): readonly BundleRecord[] => {
    const equipped = all.isEquipped ? all.toolsets[0]?.name : undefined;
    return [
      ...all.gateways.map((body) => ({ kind: 'gateway', body }) as const),
      ...all.tools.map((body) => ({ kind: 'rest_tool', body }) as const),
      ...all.functions.map((body) => ({ kind: 'function_module', body }) as const),
      ...all.trust.map((body) => ({ kind: 'trust', body }) as const),
      ...all.overrides.map((body) => ({ kind: 'tool', body }) as const),
      ...all.toolsets.map((body) => ({ kind: 'toolset', body }) as const),
      ...(equipped === undefined ? [] : [{ kind: 'equipped', body: { toolset: equipped } } as const]),
      ...Object.entries(all.settings).map(([id, body]) => ({ kind: 'setting', id, body }) as const),
      ...(all.rules.length === 0 ? [] : [{ kind: 'policy_rules', body: { rules: all.rules } } as const]),
    ];
  });
