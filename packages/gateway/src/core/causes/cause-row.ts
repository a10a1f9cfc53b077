/** What has to happen before a retry can succeed: time passing, a change outside Assay, or a sign-in. */
export type CauseRecovery = 'time' | 'change' | 'sign_in';

export interface CauseRow<C> {
  readonly recovery: CauseRecovery;
  /** A phrase to follow the name of a server, without a full stop. */
  readonly text: (cause: C) => string;
  /** What to do about it, in one or two sentences. */
  readonly remedy: string;
}

/** One row per code of a union of causes. */
export type CauseTable<C extends { readonly code: string }> = {
  readonly [K in C['code']]: CauseRow<Extract<C, { readonly code: K }>>;
};

/** The end of a process, with the line of its stderr that says why. */
export interface Stderr {
  readonly stderr?: string | undefined;
}

export function after(stderr: string | undefined): string {
  return stderr === undefined ? '' : `: ${stderr}`;
}

// Remedies of several subjects.
export const BY_HAND = 'Run its command in a terminal and check the output.';
export const DOWNLOAD =
  'The first start with npx, uvx or docker downloads the server; running it once in a terminal does the same.';
export const HTTP_LOG = 'Check "url" and "headers" in its config entry, and the log of the server.';
export const ITS_AUTHOR = 'Report this to the author of the server: clients cannot use its messages.';
export const OWN_LOG = 'Check the log of Assay, and report the error.';
export const NOTHING = 'Nothing to do: Assay reconnects when needed.';
