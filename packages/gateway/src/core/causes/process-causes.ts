import { quote } from '@assay-mcp/kit/printable';
import { formatGap, type SandboxGap, type UnsafePath, formatUnsafePath } from '@assay-mcp/sandbox/support';
import { formatInstallation, formatPathFault, type PackageRefusal } from '../refusals/config-refusals.ts';
import { splitCommandRemedy } from '../split-command.ts';
import { after, BY_HAND, type CauseTable, type Stderr } from './cause-row.ts';

/** Causes of the process of a server. */
export type ProcessCause =
  | { readonly code: 'COMMAND_NOT_FOUND'; readonly command: string }
  | { readonly code: 'COMMAND_NOT_EXECUTABLE'; readonly command: string }
  | { readonly code: 'CWD_INVALID'; readonly command: string }
  | { readonly code: 'COMMAND_LINE_TOO_LONG' }
  | { readonly code: 'OPEN_FILES_EXHAUSTED' }
  /** `error`: the system's error code. */
  | { readonly code: 'PROCESS_NOT_STARTED'; readonly error: string }
  | (Stderr & { readonly code: 'PROCESS_EXITED'; readonly exitCode: number | null })
  | (Stderr & { readonly code: 'PROCESS_KILLED'; readonly signal: string })
  | (Stderr & { readonly code: 'STDOUT_CLOSED' })
  | (Stderr & { readonly code: 'STDIN_CLOSED' })
  | { readonly code: 'SANDBOX_UNAVAILABLE'; readonly gap: SandboxGap }
  | ({ readonly code: 'SANDBOX_UNSAFE' } & UnsafePath)
  | PackageRefusal;

const ENVIRONMENT =
  'Its environment contains only a few harmless variables, and those in "env" of its config entry.';

const INSTALL = 'Run that command. Assay then starts it within a minute.';

export const PROCESS_CAUSES: CauseTable<ProcessCause> = {
  COMMAND_NOT_FOUND: {
    recovery: 'change',
    text: ({ command }) => {
      const remedy = splitCommandRemedy(command);
      return `cannot be started: command ${quote(command)} not found, ${
        remedy === undefined
          ? 'or its cwd does not exist'
          : `as it contains its arguments. ${remedy.slice(0, -1)}`
      }`;
    },
    remedy: 'Install the command, or correct "command" or "cwd" in its config entry.',
  },
  COMMAND_NOT_EXECUTABLE: {
    recovery: 'change',
    text: ({ command }) => `cannot be started: ${quote(command)} is not executable`,
    remedy: 'Give the file the right to be executed (`chmod +x`).',
  },
  CWD_INVALID: {
    recovery: 'change',
    text: ({ command }) =>
      `cannot be started: its cwd is not a folder, or ${quote(command)} is inside something that is not one`,
    remedy: 'Correct "cwd" in its config entry.',
  },
  COMMAND_LINE_TOO_LONG: {
    recovery: 'change',
    text: () => 'cannot be started: its arguments or its environment are too long',
    remedy: 'Shorten "args" or "env" in its config entry.',
  },
  OPEN_FILES_EXHAUSTED: {
    recovery: 'time',
    text: () => 'cannot be started: too many files are open',
    remedy: 'Raise the limit of open files (`ulimit -n`), or start fewer servers.',
  },
  PROCESS_NOT_STARTED: {
    recovery: 'time',
    text: ({ error }) => `cannot be started: ${error}`,
    remedy: BY_HAND,
  },
  PROCESS_EXITED: {
    recovery: 'time',
    text: ({ exitCode, stderr }) => `exited with code ${String(exitCode)}${after(stderr)}`,
    remedy: `${BY_HAND} ${ENVIRONMENT}`,
  },
  PROCESS_KILLED: {
    recovery: 'time',
    text: ({ signal, stderr }) => `was ended by ${signal}${after(stderr)}`,
    remedy: `${BY_HAND} ${ENVIRONMENT}`,
  },
  STDOUT_CLOSED: {
    recovery: 'time',
    text: ({ stderr }) => `closed its stdout without ending${after(stderr)}`,
    remedy: `${BY_HAND} ${ENVIRONMENT}`,
  },
  STDIN_CLOSED: {
    recovery: 'time',
    text: ({ stderr }) => `closed its stdin without ending${after(stderr)}`,
    remedy: `${BY_HAND} ${ENVIRONMENT}`,
  },
  SANDBOX_UNAVAILABLE: {
    recovery: 'change',
    text: ({ gap }) => `cannot be started in a sandbox: ${formatGap(gap)}; run \`assay sandbox check\``,
    remedy: 'Install what that command names, or set "sandbox": "off" in its config entry.',
  },
  SANDBOX_UNSAFE: {
    recovery: 'change',
    text: (unsafe) => `cannot be started in a sandbox: ${formatUnsafePath(unsafe)}`,
    remedy:
      'Move that path out of its roots or give it narrower roots; if you moved a folder yourself, run `assay review --roots SERVER`.',
  },
  PACKAGE_MISSING: {
    recovery: 'change',
    text: (missing) =>
      `cannot be started: the package ${missing.name} is not installed; ${formatInstallation(missing)}`,
    remedy: INSTALL,
  },
  PACKAGE_INCOMPATIBLE: {
    recovery: 'change',
    text: (found) =>
      `cannot be started: the package ${found.name} in ${quote(found.path)} has the version ${quote(found.installed)}, and Assay ${found.version} needs exactly its own; ${formatInstallation(found)}`,
    remedy: INSTALL,
  },
  PATH_UNSAFE: {
    recovery: 'change',
    text: (unsafe) => `cannot be started: ${formatPathFault(unsafe)}`,
    remedy: 'Run that command, so that no other user can change its program.',
  },
};
