import type { ToolReport } from '@assay-mcp/kit/verification/verdict';
import { findPrerequisites } from '../../packages/verify/src/arguments/find-prerequisites.ts';
import { kindOfTool, nounsOfTool } from '../../packages/verify/src/arguments/tool-words.ts';
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
    /\b(?:not (?:authenticated|logged in|authorized)|unauthorized|please (?:log ?in|(?:re-?)?authenticate)|authentication required)\b/i,
  ],
  ['key', /\bno auth(?:entication)? configured\b|\b[a-z]{2,30} (?:is )?not configured\b/i],
  // The address of a server that is a setting.
  ['key', /\bURL\b.{0,20}\bundefined\//],
  [
    'program',
    /\bspawn \S+ ENOENT\b|\bcommand not found\b|\bsh: (?:\d+: )?\S+: not found\b|Executable doesn't exist|exit code 127|executable file not found in \$PATH/,
  ],
  // What an install script would have built.
  ['program', /Could not locate the bindings file|Cannot find module '[^']{1,200}\.node'/],
  ['program', /\b(?:chrome|chromium|browser)\b.{0,60}\bnot (?:found|installed|initialized|launched)/i],
  ['service', /\bno (?:connected|.{1,30} (?:plugin|extension|app|editor) connection)\b/i],
  // The server reaches the host also without the call, so that the contact is not that of the tool. Host names lead to
  // 127.77.0.1 in the sandbox, where HTTP requests get 503.
  [
    'internet',
    /\bfetch failed\b|\bECONNREFUSED 127\.77\.|\b(?:ENOTFOUND|EAI_AGAIN|getaddrinfo)\b|\b(?:HTTP|status|code)[ :]{1,3}503\b/,
  ],
];

/** A port of this machine, not the path of a socket. */
const PORT = /:\d+$/;

/**
 * What the tools lacked of which no call succeeded, by their names: by the addresses that they tried to reach and by their
 * answers. A tool that needs another one lacks what that one lacks, such as a page of a browser that cannot be started.
 */
export function findNeeds(tools: readonly ToolReport[]): ReadonlyMap<string, Need> {
  const failed = tools.filter(({ coverage }) => coverage.successfulCalls === 0);
  const needs = new Map<string, Need>();
  for (const tool of failed) {
    const need = findNeed(tool);
    if (need !== undefined) needs.set(tool.name, need);
  }
  const names = failed.map(({ name }) => name);
  for (const { name, ...tool } of failed) {
    if (needs.has(name)) continue;
    const asked = listAnswers(tool).flatMap((text) => listPrerequisites(text, name, names));
    const need = asked.map((other) => needs.get(other)).find((one) => one !== undefined);
    if (need !== undefined) needs.set(name, need);
  }
  return needs;
}

/** `Session 1 not found` */
const MISSING_THING = /\b([a-z]{3,30}) ["'`]?[\w-]{1,40}["'`]? (?:was )?not found\b/i;

function listPrerequisites(text: string, failed: string, names: readonly string[]): readonly string[] {
  const noun = MISSING_THING.exec(text)?.[1]?.toLowerCase();
  const creating = names.filter(
    (name) =>
      name !== failed &&
      noun !== undefined &&
      kindOfTool(name) === 'creates' &&
      nounsOfTool(name).includes(noun),
  );
  // Whatever the language of the text.
  const named = names.filter((name) => name !== failed && name.includes('_') && text.includes(name));
  return [...findPrerequisites(text, failed, names), ...named, ...creating];
}

function listAnswers({
  attempts = [],
  failure = '',
}: Pick<ToolReport, 'attempts' | 'failure'>): readonly string[] {
  return [...attempts.map(({ answer }) => answer), failure];
}

function findNeed(tool: ToolReport): Need | undefined {
  const { verdicts, signals } = tool;
  const { openWorldHint } = verdicts;
  if (openWorldHint.kind === 'contradicted' || openWorldHint.kind === 'supported') return 'internet';
  if (
    signals.some((one) => one.kind === 'local_connection' && one.targets.some((target) => PORT.test(target)))
  )
    return 'service';
  const answers = listAnswers(tool);
  return BY_ANSWER.find(([, pattern]) => answers.some((answer) => pattern.test(answer)))?.[0];
}
