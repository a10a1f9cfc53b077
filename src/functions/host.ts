import { writeSync } from 'node:fs';
import process from 'node:process';
import { LineSplitter } from '../platform/lines.ts';
import type { FromRunner, ToRunner } from '../core/sources/function-messages.ts';
import { bytesOf, parse, stringify, wait } from './kept.ts';

const STDOUT = 1;
/** More than any message of Assay: arguments are bounded at its door. */
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
  let mark = '';
  const host: Host = {
    // A `toJSON` that the module gave to all objects has no say here.
    tell: (message) => send(mark, stringify({ ...message, toJSON: undefined })),
    tellDone: (id, result) => send(mark, `{"kind":"done","id":${id},"result":${result}}`),
    exit: (code) => exit(code),
  };
  const lines = new LineSplitter(LINE_LIMIT_BYTES, {
    line: (line) => {
      const message = parse(line.toString()) as ToRunner; // Assay alone holds the other end
      if (message.kind === 'load') mark = message.mark;
      hear(message, host);
    },
    tooLong: () => undefined,
  });
  stdin.on('data', (chunk: Buffer) => lines.push(chunk));
  for (const event of ['end', 'error']) stdin.once(event, () => exit(0));
}

/**
 * One line, written before anything else is done, so that Assay knows of it even when the next step never ends. It begins
 * with a line feed, as the module may have left half a line.
 */
function send(mark: string, json: string): void {
  let rest: Buffer = bytesOf(`\n${mark}${json}\n`);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(write(STDOUT, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') exit(1);
      wait(NOBODY_WAKES, 0, 0, WAIT_MS);
    }
  }
}
