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
    /\bspawn \S+ ENOENT\b|\bcommand not found\b|\bsh: (?:\d+: )?\S+: not found\b|Executable doesn't exist|exit code 127/,
  ],
  ['program', /\b(?:chrome|chromium|browser)\b.{0,60}\bnot (?:found|installed)/i],
];

/** A port of this machine, not the path of a socket. */
const PORT = /:\d+$/;

/** What a tool lacked of which no call succeeded, by the addresses that it tried to reach and by its answers. */
export function findNeed({ verdicts, signals, attempts = [], failure = '' }: ToolReport): Need | undefined {
  const { openWorldHint } = verdicts;
  if (openWorldHint.kind === 'contradicted' || openWorldHint.kind === 'supported') return 'internet';
  if (
    signals.some((one) => one.kind === 'local_connection' && one.targets.some((target) => PORT.test(target)))
  )
    return 'service';
  const answers = [...attempts.map(({ answer }) => answer), failure];
  return BY_ANSWER.find(([, pattern]) => answers.some((answer) => pattern.test(answer)))?.[0];
}
