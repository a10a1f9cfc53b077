import assert from 'node:assert/strict';
import { posix } from 'node:path';
import { StraceLines } from '@assay-mcp/sandbox/strace-lines';
import { TracedEvents } from '@assay-mcp/sandbox/traced-events';
import type { TracedEvent } from '@assay-mcp/sandbox/observation';

const CWD = '/start';

/** Any lines are read without an exception; and whatever a file is called, its deletion is seen, and nothing else. */
export function fuzz(bytes: Buffer): void {
  eventsOf(bytes.toString('latin1'));
  const zero = bytes.indexOf(0);
  const name = zero === -1 ? bytes : bytes.subarray(0, zero);
  if (name.length === 0) return;
  const path = posix.resolve(CWD, name.toString());
  const printed = escaped(name, '"');
  const folder = escaped(Buffer.from(path), '>');
  const trace = [
    `7 1.5 unlink("${printed}") = 0`,
    `7 2.5 unlinkat(AT_FDCWD<${CWD}>, "${printed}", 0) = 0`,
    `7 3.5 rename("${printed}", "/moved") = 0`,
    `7 4.5 unlinkat(5<${folder}>, "a", 0 <unfinished ...>`,
    '7 5.5 <... unlinkat resumed>) = 0',
  ];
  const { events, unreadable } = eventsOf(trace.join('\n'));
  assert.equal(unreadable, 0);
  assert.deepEqual(
    events.map((event) => [event.kind, 'path' in event ? event.path : undefined]),
    [
      ['delete', path],
      ['delete', path],
      ['rename', path],
      ['delete', posix.join(path, 'a')],
    ],
  );
}

function eventsOf(text: string): { readonly events: readonly TracedEvent[]; readonly unreadable: number } {
  const events: TracedEvent[] = [];
  const traced = new TracedEvents({ cwd: CWD, secretAt: () => undefined });
  const lines = new StraceLines(
    (call) => {
      const { event } = traced.read(call);
      if (event !== undefined) events.push(event);
    },
    (pid) => traced.exited(pid),
  );
  for (const line of text.split('\n')) lines.line(line);
  return { events, unreadable: lines.unreadable };
}

const LETTERS: Readonly<Record<number, string>> = { 9: 't', 10: 'n', 11: 'v', 12: 'f', 13: 'r' };

/** As strace prints a string. `end`: the character that ends it, which is printed as an escape. */
function escaped(bytes: Buffer, end: '"' | '>'): string {
  return [...bytes]
    .map((byte, at) => {
      const char = String.fromCharCode(byte);
      const letter = LETTERS[byte];
      if (letter !== undefined) return `\\${letter}`;
      if (char === '\\' || (char === '"' && end === '"')) return `\\${char}`;
      if (byte >= 0x20 && byte < 0x7f && char !== end) return char;
      const octal = byte.toString(8);
      return `\\${/[0-7]/.test(String.fromCharCode(bytes[at + 1] ?? 0)) ? octal.padStart(3, '0') : octal}`;
    })
    .join('');
}
