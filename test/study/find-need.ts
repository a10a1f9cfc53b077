import type { ToolReport } from '@assay-mcp/kit/verification/verdict';
import type { Need } from './record.ts';

const BY_ANSWER: readonly (readonly [Need, RegExp])[] = [
  ['key', /\b[A-Z][A-Z\d_]*_(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS)\b/],
  [
    'key',
    /\b(?:api[ _-]?key|access token|api token|credentials?)\b.{0,40}\b(?:required|missing|not (?:set|found|configured|provided))/i,
  ],
  [
    'key',
    /\b(?:missing|no|requires?|provide|set)\b.{0,40}\b(?:api[ _-]?key|access token|api token|credentials?)\b/i,
  ],
  [
    'key',
    /\b(?:not (?:authenticated|logged in|authorized)|unauthorized|please log ?in|authentication required)\b/i,
  ],
  [
    'program',
    /\bspawn \S+ ENOENT\b|\bcommand not found\b|: not found\s*$|Executable doesn't exist|exit code 127/,
  ],
  ['program', /\b(?:chrome|chromium|browser)\b.{0,60}\bnot (?:found|installed)/i],
  ['service', /ECONNREFUSED (?:::1|127\.0\.0\.1|localhost)/],
];

/** What a tool lacked of which no call succeeded, by the addresses that it tried to reach and by its answers. */
export function findNeed({
  verdicts: { openWorldHint },
  attempts = [],
  failure = '',
}: ToolReport): Need | undefined {
  if (openWorldHint.kind === 'contradicted' || openWorldHint.kind === 'supported') return 'internet';
  const answers = [...attempts.map(({ answer }) => answer), failure];
  return BY_ANSWER.find(([, pattern]) => answers.some((answer) => pattern.test(answer)))?.[0];
}
