import { isStartedByNpm, onNpmEnd } from './platform/npm-parents.ts';

/** Exit code of a program that a signal ended, by the custom of shells. */
export const INTERRUPTED: number = 130;
const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** Ctrl+C below npm comes twice: from the terminal, and a moment later from npm. */
const NPM_ECHO_MS = 300;

/**
 * The first signal asks for an orderly end, a second one does not wait for it. The end of the npm that started this process
 * counts as a first signal.
 */
export function untilStopped(): Promise<void> {
  const isNpm = isStartedByNpm(process.env);
  return new Promise((resolve) => {
    let askedMs: number | undefined;
    const ask = (): void => {
      askedMs ??= performance.now();
      resolve();
    };
    for (const signal of SIGNALS)
      process.on(signal, () => {
        const isEcho = isNpm && askedMs !== undefined && performance.now() - askedMs < NPM_ECHO_MS;
        if (askedMs !== undefined && !isEcho) process.exit(INTERRUPTED);
        ask();
      });
    if (isNpm) onNpmEnd(ask);
  });
}
