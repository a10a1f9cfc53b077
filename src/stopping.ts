/** Exit code of a program that a signal ended, by the custom of shells. */
export const INTERRUPTED: number = 130;
const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** The first signal asks for an orderly end, a second one does not wait for it. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    let isAsked = false;
    for (const signal of SIGNALS)
      process.on(signal, () => {
        if (isAsked) process.exit(INTERRUPTED);
        isAsked = true;
        resolve();
      });
  });
}
