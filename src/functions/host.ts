import { writeSync } from 'node:fs';
import process from 'node:process';
import { LineSplitter } from '../platform/lines.ts';
import type { FromRunner, ToRunner } from '../core/sources/function-messages.ts';
import { encodedOf, parse, putInto, stringify, wait } from './harden-globals.ts';

const STDOUT = 1;
/** More than any message of Assay: the edges limit the size of arguments. */
const LINE_LIMIT_BYTES = 64 * 1024 * 1024;
const WAIT_MS = 1;
const NOBODY_WAKES = new Int32Array(new SharedArrayBuffer(4));

// Taken before the module could put others in their place.
const write = writeSync;
const stdin = process.stdin;
const exit = process.exit.bind(process);

/** Assay, at the other end of stdin and stdout. */
export interface Host {
  tell(message: FromRunner): void;
  /** As `tell`, of the end of a call whose result is JSON text already. */
  tellDone(id: number, result: string): void;
  /** Ends the process at once. */
  exit(code: number): never;
}

/** Hands over what Assay tells. The process ends when Assay is gone. */
export function openHost(hear: (message: ToRunner, host: Host) => void): void {
  let mark = encodedOf('');
  const host: Host = {
    // A `toJSON` that the module gave to all objects has no say here.
    tell: (message) => send(mark, `${stringify({ ...message, toJSON: undefined })}\n`),
    tellDone: (id, result) => send(mark, `{"kind":"done","id":${id},"result":${result}}\n`),
    exit: (code) => exit(code),
  };
  const lines = new LineSplitter(LINE_LIMIT_BYTES, {
    line: (line) => {
      const message = parse(line.toString()) as ToRunner; // Assay alone holds the other end
      if (message.kind === 'load') mark = encodedOf(`\n${message.mark}`);
      // No text of the mark stays, as a snapshot of the heap would show it.
      hear(message.kind === 'load' ? { ...message, mark: '' } : message, host);
    },
    tooLong: () => undefined,
  });
  stdin.on('data', (chunk: Buffer) => lines.push(chunk));
  for (const event of ['end', 'error']) stdin.once(event, () => exit(0));
}

/**
 * One line, and in front of it the mark, which code of the module never gets hold of: it passes through no pool of Buffer's
 * and through no function or property that the module could replace. Written before anything else is done, so that Assay knows of it even when the next step never ends. It begins
 * with a line feed, as the module may have left half a line.
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
