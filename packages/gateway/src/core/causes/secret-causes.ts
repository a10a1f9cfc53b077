import { quote } from '@assay-mcp/kit/printable';
import type { CauseTable } from './cause-row.ts';

/** Causes of values that are read when a server is connected. `member`: such as `env.GITHUB_TOKEN`. */
export type SecretCause =
  | { readonly code: 'SECRET_UNKNOWN'; readonly member: string; readonly secret: string }
  | {
      readonly code: 'SECRET_NOT_ALLOWED';
      readonly member: string;
      readonly secret: string;
      readonly server: string;
    }
  | {
      readonly code: 'SECRET_UNREADABLE';
      readonly member: string;
      readonly secret: string;
      readonly reason: string;
    }
  | {
      readonly code: 'VALUE_FILE_UNREADABLE';
      readonly member: string;
      readonly path: string;
      readonly reason: string;
    }
  /** `program`: without its arguments. */
  | {
      readonly code: 'VALUE_COMMAND_FAILED';
      readonly member: string;
      readonly program: string;
      readonly reason: string;
    }
  | { readonly code: 'VALUE_INVALID'; readonly member: string; readonly reason: string }
  /** `member`: such as `clientCertificate.keyFile`. */
  | {
      readonly code: 'CERTIFICATE_FILE_UNUSABLE';
      readonly member: string;
      readonly path: string;
      readonly reason: string;
    };

export const SECRET_CAUSES: CauseTable<SecretCause> = {
  SECRET_UNKNOWN: {
    recovery: 'change',
    text: ({ member, secret }) =>
      `its ${member} needs the secret ${quote(secret)}, which is not stored; run \`assay secret set ${secret}\``,
    remedy: 'Store the secret with `assay secret set NAME --server SERVER`.',
  },
  SECRET_NOT_ALLOWED: {
    recovery: 'change',
    text: ({ member, secret, server }) =>
      `its ${member} needs the secret ${quote(secret)}, which it may not use; to allow that, run \`assay secret allow ${secret} ${server}\``,
    remedy:
      'Look at its command or address, then allow it with `assay secret allow NAME SERVER`. A secret is bound to both.',
  },
  SECRET_UNREADABLE: {
    recovery: 'change',
    text: ({ member, secret, reason }) =>
      `its ${member} needs the secret ${quote(secret)}, which cannot be read: ${reason}`,
    remedy: 'Store the secret again with `assay secret set NAME`.',
  },
  VALUE_FILE_UNREADABLE: {
    recovery: 'change',
    text: ({ member, path, reason }) =>
      `its ${member} is in the file ${quote(path)}, which cannot be used: ${reason}`,
    remedy: 'The file must be a regular file of at most 64 KiB with UTF-8 text. Then restart the server.',
  },
  VALUE_COMMAND_FAILED: {
    recovery: 'change',
    text: ({ member, program, reason }) => `the program for its ${member}, ${quote(program)}, ${reason}`,
    remedy:
      'Run the command in a terminal: it must print its output within 10 s and exit with 0. Then restart the server.',
  },
  VALUE_INVALID: {
    recovery: 'change',
    text: ({ member, reason }) => `the value of its ${member} cannot be used: ${reason}`,
    remedy:
      'Store or print a single line without control characters; a `headerCommand` prints a JSON object of strings.',
  },
  CERTIFICATE_FILE_UNUSABLE: {
    recovery: 'change',
    text: ({ member, path, reason }) =>
      `its ${member} is the file ${quote(path)}, which cannot be used: ${reason}`,
    remedy: 'Correct the file or the entry, then restart the server.',
  },
};
