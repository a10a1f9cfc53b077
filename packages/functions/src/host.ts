import { writeSync } from 'node:fs';
import process from 'node:process';
import { LineSplitter } from '@assay-mcp/kit/platform/lines';
import type { FromRunner, ToRunner } from './function-messages.ts';
import { encodeText, parse, putInto, stringify, wait } from './harden-globals.ts';

const STDOUT = 1;
/** More than any message from Assay: the edges limit the size of arguments. */
const LINE_LIMIT_BYTES = 64 * 1024 * 1024;
const WAIT_MS = 1;
const NOBODY_WAKES = new Int32Array(new SharedArrayBuffer(4));

// Saved before the module can replace them.
const write = writeSync;
const stdin = process.stdin;
const exit = process.exit.bind(process);

/** Assay, at the other end of stdin and stdout. */
export interface Host {
  send(message: FromRunner): void;
  /** Ends a call. The result is already JSON text. */
  sendDone(id: number, result: string): void;
  /** Ends the process immediately. */
  exit(code: number): never;
}

/** Passes Assay's messages to `onMessage`. The process ends when Assay does. */
export function openHost(onMessage: (message: ToRunner, host: Host) => void): void {
  let mark = encodeText('');
  const host: Host = {
    // Overrides a `toJSON` that the module may have added to Object.prototype.
    send: (message) => send(mark, `${stringify({ ...message, toJSON: undefined })}\n`),
    sendDone: (id, result) => send(mark, `{"kind":"done","id":${id},"result":${result}}\n`),
    exit: (code) => exit(code),
  };
  const lines = new LineSplitter(LINE_LIMIT_BYTES, {
    line: (line) => {
      const message = parse(line.toString()) as ToRunner; // Only Assay has the other end.
      if (message.kind === 'load') mark = encodeText(`\n${message.mark}`);
      // Do not keep the mark as a string: a heap snapshot would show it.
      onMessage(message.kind === 'load' ? { ...message, mark: '' } : message, host);
    },
    tooLong: () => undefined,
  });
  stdin.on('data', (chunk: Buffer) => lines.push(chunk));
  for (const event of ['end', 'error']) stdin.once(event, () => exit(0));
}

/**
 * Writes the mark and a line. The module must never get the mark, so it passes through no Buffer pool and no function
 * or property that the module could replace. The write is synchronous, so that Assay gets the line even if the next
 * step never ends. The mark starts with a line feed, because the module may have left an incomplete line.
 */
function send(mark: Uint8Array, line: string): void {
  const { bytes, length } = putInto(mark, line);
  let at = 0;
  while (at < length) {
    try {
      at += write(STDOUT, bytes, at, length - at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') exit(1);
      wait(NOBODY_WAKES, 0, 0, WAIT_MS);
    }
  }
}
