import { expect, it } from 'vitest';
import type { DeclaredHints } from '@assay-mcp/kit/hint';
import { isApprovalRequest } from '../../../src/core/approval.ts';
import { compilePolicy } from '../../../src/core/policy/compile-policy.ts';
import type { PolicyPreferences, PolicyReason, PolicyTool } from '../../../src/core/policy/policy.ts';
import type { PolicyRule } from '../../../src/core/policy/rule.ts';
import { formatReasons, listHintWarnings, type ReasonReader } from '../../../src/core/policy/reason-text.ts';
import { findDistrustedServer } from '../../../src/core/policy/untrusted-claims.ts';
import { resolveHints } from '../../../src/core/hints/resolve.ts';
import { callerWith, claimsOf, DEFAULT_PREFERENCES, toolWith } from './tools.ts';

/** A tool of an untrusted server that declares these hints. */
function untrustedTool(hints: DeclaredHints): PolicyTool {
  return toolWith(claimsOf(hints, 'untrusted'), {
    server: 'files',
    hintsIfTrusted: () => resolveHints(claimsOf(hints, 'trusted'), 'd'),
  });
}

function reasonsOf(
  tool: PolicyTool,
  preferences: Partial<PolicyPreferences> = {},
  rules: readonly PolicyRule[] = [],
): readonly PolicyReason[] {
  const policy = compilePolicy({ preferences: { ...DEFAULT_PREFERENCES, ...preferences }, rules });
  return policy.decide({ ...callerWith(), tool })?.reasons ?? [];
}

function sentences(tool: PolicyTool, reader?: ReasonReader): readonly string[] {
  return formatReasons({ reasons: reasonsOf(tool), warnings: listHintWarnings(tool) }, reader);
}

const READS = untrustedTool({ readOnlyHint: true });

it('a tool that declares read-only is not said to be destructive, but its server to be untrusted', () => {
  expect(sentences(untrustedTool({ readOnlyHint: true, openWorldHint: false }))).toEqual([
    'files says that this tool only reads.',
    "You have not trusted files's hints yet.",
  ]);
});

it('a name of a server that reads like a part of the sentence is quoted', () => {
  const server = 'An operator says that this tool only reads. It';
  expect(sentences({ ...READS, server })[0]).toBe(`"${server}" says that this tool only reads.`);
});

it('what a client reads names neither the server nor the operator', () => {
  expect(sentences(READS, 'client')).toEqual([
    'Its server says that this tool only reads.',
    "The operator has not trusted this server's hints.",
    'This tool may reach outside: no trusted source says otherwise.',
  ]);
});

it('a reason is stated once, even if a warning says the same', () => {
  expect(sentences(toolWith(claimsOf({ destructiveHint: true, openWorldHint: false }, 'trusted')))).toEqual([
    'Its server says that this tool may make destructive changes.',
    'Calls of tools that may make destructive changes are always confirmed.',
  ]);
});

it('trust is offered only where it makes Assay ask less', () => {
  const asking: PolicyRule = { effect: 'ask', name: 'all' };
  expect([
    findDistrustedServer(reasonsOf(READS)),
    findDistrustedServer(reasonsOf(READS, {}, [asking])),
    findDistrustedServer(reasonsOf(untrustedTool({ destructiveHint: true }))),
    findDistrustedServer(reasonsOf(untrustedTool({ destructiveHint: false }))),
    findDistrustedServer(reasonsOf(toolWith(claimsOf({ readOnlyHint: true }, 'trusted')))),
  ]).toEqual(['files', undefined, undefined, 'files', undefined]);
  expect(
    findDistrustedServer(reasonsOf(READS, { autoApproveReadOnly: true, alwaysConfirmDestructive: false })),
  ).toBe('files');
});

it('settings are sentences without keys', () => {
  const reads = toolWith(claimsOf({ readOnlyHint: true }, 'trusted'));
  expect(
    (['always', 'first', 'never'] as const).map((confirm) =>
      formatReasons({ reasons: reasonsOf(reads, { confirm }) }).join(' '),
    ),
  ).toEqual([
    'Each call is confirmed, as the settings say.',
    'The first call of each tool in a session is confirmed, as the settings say.',
    'Calls are not confirmed, as the settings say.',
  ]);
});

it('a stored reason that cannot be read makes its approval unreadable, and an unknown one says nothing', () => {
  const request = {
    ...{ tool: 't', namespacedName: 's.t', server: 's', arguments: '{}', isShortened: false },
    ...{ reasons: reasonsOf(READS), warnings: listHintWarnings(READS), hints: [], scopes: ['once'] },
  };
  expect(isApprovalRequest(JSON.parse(JSON.stringify(request)))).toBe(true);
  const untrusted = { server: 's', hint: 'constructor', value: true, isDecisive: true };
  expect(isApprovalRequest({ ...request, reasons: [{ code: 'destructive', untrusted }] })).toBe(false);
  expect(isApprovalRequest({ ...request, warnings: [{ hint: 'constructor', value: true }] })).toBe(false);
  expect(formatReasons({ reasons: [{ code: 'of_a_later_version' } as unknown as PolicyReason] })).toEqual([]);
});
