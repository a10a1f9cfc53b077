/** Exit code of a program ended by SIGPIPE, as shells define it. */
const READER_GONE = 141;

/**
 * Ends the program silently when the reader of its stdout has gone, as in `assay lint | head`. Node ignores SIGPIPE and
 * reports EPIPE at the next write, which nothing else handles. A program that stops in order when it gets a signal
 * does so now too, since it may have started servers. A reader of stderr that has gone costs the messages alone.
 */
export function endWithReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    endOnce();
  });
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

let isEnding = false;

/** Each write that was pending reports the error. A second signal would end the program before it has stopped. */
function endOnce(): void {
  if (isEnding) return;
  isEnding = true;
  process.once('exit', () => (process.exitCode = READER_GONE));
  if (process.listenerCount('SIGTERM') === 0) process.exit(READER_GONE);
  process.emit('SIGTERM', 'SIGTERM');
}
