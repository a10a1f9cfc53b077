import { toPrintable } from '../../printable.ts';
import { truncateText } from '../../shorten.ts';

/** Work that takes longer than this many ms is shown at a terminal. */
const SHOWN_AFTER_MS = 1_000;
const REDRAW_INTERVAL_MS = 1_000;

/** The progress of a long command, as one line on stderr at a terminal. */
interface Progress {
  /** Replaces the line from the next redraw on: `starting files`. */
  readonly say: (what: string) => void;
  /** Takes the line away, for a question, until the returned function is called. */
  readonly pause: () => () => void;
}

interface ProgressOptions {
  readonly stream?: Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>;
  readonly afterMs?: number;
}

/** Shows `what` and the elapsed time while the work runs, if stderr is a terminal and it takes over a second. */
export async function withProgress<T>(
  what: string,
  work: (progress: Progress) => Promise<T>,
  { stream = process.stderr, afterMs = SHOWN_AFTER_MS }: ProgressOptions = {},
): Promise<T> {
  if (!stream.isTTY) return work({ say: () => undefined, pause: () => () => undefined });
  const startedMs = performance.now();
  let now = what;
  let isShown = false;
  let isPaused = false;
  const draw = (): void => {
    if (isPaused) return;
    const seconds = Math.floor((performance.now() - startedMs) / 1_000);
    const line = truncateText(`${toPrintable(now)} … ${seconds} s`, (stream.columns || 80) - 1);
    stream.write(`${CLEAR}${line}`);
    isShown = true;
  };
  const clear = (): void => {
    if (isShown) stream.write(CLEAR);
    isShown = false;
  };
  const pause = (): (() => void) => {
    isPaused = true;
    clear();
    return () => (isPaused = false);
  };
  let drawing: NodeJS.Timeout | undefined;
  const waiting = setTimeout(() => {
    draw();
    drawing = setInterval(draw, REDRAW_INTERVAL_MS);
  }, afterMs);
  try {
    return await work({ say: (next) => (now = next), pause });
  } finally {
    clearTimeout(waiting);
    clearInterval(drawing);
    clear();
  }
}

/** Returns to the start of the line and erases it. */
const CLEAR = '\r\u001B[2K';
