import { findHiddenCharacters, toPrintable } from '@assay-mcp/kit/printable';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { Instructions } from '../../api/instructions.ts';
import type { CodedProblem } from '../../api/problem.ts';
import type { Api } from './api.ts';
import { print, printError, printJson, style } from '@assay-mcp/kit/platform/terminal/print';
import { splitToWidth } from '@assay-mcp/kit/platform/terminal/table';
import { apiPath } from './with-api.ts';
import type { JsonOptions } from './common-options.ts';

export interface AcceptOptions extends JsonOptions {
  readonly accept?: boolean;
}

/** Instructions of a server that differ from the accepted text. */
export interface InstructionsItem {
  readonly kind: 'instructions';
  /** Name of the server. */
  readonly name: string;
  readonly id: string;
  readonly severity: 'review';
  /** The reasons, as phrases. */
  readonly reasons: readonly string[];
  readonly since: string;
  readonly accepted: Text;
  /** The current text of the server. */
  readonly changed: Text;
}

interface Text {
  /** SHA-256 in hexadecimal. */
  readonly digest: string;
  readonly text: string;
}

/** The changed instructions of all servers. */
export async function listChangedInstructions(
  api: Api,
  query: Readonly<Record<string, string>>,
): Promise<Result<readonly InstructionsItem[], CodedProblem>> {
  const read = await api.send<{ readonly instructions: readonly Instructions[] }>({
    ...{ method: 'GET', path: '/instructions', query: { ...query, drift: 'any' } },
  });
  return read.ok ? ok(read.value.instructions.flatMap(itemOf)) : read;
}

/** Shows how a server's instructions differ from the accepted text, or accepts them. SERVER_UNKNOWN */
export async function reviewInstructions(
  api: Api,
  name: string,
  { accept = false, json = false }: AcceptOptions,
): Promise<Result<unknown, CodedProblem>> {
  const path = apiPath`/gateways/${name}/instructions`;
  const read = await api.read<Instructions>(path);
  if (!read.ok) return read;
  const { value, etag: ifMatch } = read.value;
  const [item] = itemOf(value);
  if (item === undefined) {
    if (json) printJson({ review: [] });
    else print(`The instructions of ${toPrintable(name)}: nothing waits for a review.`);
    return read;
  }
  if (!json) showDifference(item);
  if (!accept) {
    if (json) printJson({ review: [item] });
    else printError('`--accept` accepts exactly this text; models get it from then on.');
    return read;
  }
  // The server may have sent a newer text since this one was shown.
  const accepted = await api.send({ method: 'POST', path: `${path}/review`, ifMatch });
  if (!accepted.ok) return accepted;
  if (json) printJson(accepted.value);
  else print(`Accepted the instructions of ${toPrintable(name)}.`);
  return accepted;
}

/** Empty if the instructions are the accepted ones. */
function itemOf(view: Instructions): readonly InstructionsItem[] {
  if (view.drift === undefined) return [];
  const { gatewayId: id, serverName: name, digest, text, drift } = view;
  const hidden = findHiddenCharacters(drift.text);
  const reasons = [
    'models get the accepted text until this one is accepted',
    ...(hidden.length === 0 ? [] : ['it contains hidden characters']),
  ];
  const changed = { digest: drift.digest, text: drift.text };
  const { since } = drift;
  return [
    {
      kind: 'instructions',
      name,
      id,
      severity: 'review',
      reasons,
      since,
      accepted: { digest, text },
      changed,
    },
  ];
}

type Mark = '=' | '-' | '+';

const COLOURS: Readonly<Record<Mark, (text: string) => string>> = {
  '=': style.dim,
  '-': style.red,
  '+': style.green,
};

/** Never truncated: the part cut off might be the one that matters. */
function showDifference({ name, reasons, since, accepted, changed }: InstructionsItem): void {
  print(`The instructions of ${toPrintable(name)} changed (first seen ${since}):`);
  for (const reason of reasons) print(`  ${reason}`);
  for (const [mark, line] of difference(linesOf(accepted.text), linesOf(changed.text)))
    for (const [at, part] of splitToWidth(
      toPrintable(line),
      (process.stdout.columns || 80) - INDENT,
    ).entries())
      print(COLOURS[mark](`    ${at === 0 ? mark : ' '} ${part}`));
}

/** Width of the mark and the space around it. Continuation lines have no mark, so that text cannot imitate one. */
const INDENT = 6;

/** An empty text has no lines. */
function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.split('\n');
}

/** The common first and last lines, and between them all removed lines, then all added ones. */
function difference(
  before: readonly string[],
  after: readonly string[],
): readonly (readonly [mark: Mark, line: string])[] {
  const shortest = Math.min(before.length, after.length);
  let start = 0;
  while (start < shortest && before[start] === after[start]) start++;
  let end = 0;
  while (end < shortest - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const marked = (mark: Mark, lines: readonly string[]): readonly (readonly [Mark, string])[] =>
    lines.map((line) => [mark, line]);
  return [
    ...marked('=', before.slice(0, start)),
    ...marked('-', before.slice(start, before.length - end)),
    ...marked('+', after.slice(start, after.length - end)),
    ...marked('=', before.slice(before.length - end)),
  ];
}
