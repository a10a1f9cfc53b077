import type { Finding } from './finding.ts';
import { quoteShellArgument } from '@assay-mcp/kit/shell-argument';

/** Assay's entry in the config file of a client. */
export interface ClientEntry {
  /** The id that `assay connect` takes. */
  readonly client: string;
  readonly label: string;
  /** Its name in the file. */
  readonly name: string;
  /** Empty for an entry with a URL. */
  readonly command: readonly string[];
  /** Absolute paths in the command at which there is nothing. */
  readonly missing: readonly string[];
}

/** Checks that each connected client can still start Assay: an update of Node or a moved folder breaks the entry. */
export function checkClients(entries: readonly ClientEntry[]): readonly Finding[] {
  return entries.map(({ client, label, name, missing }) => {
    const entry = JSON.stringify(name);
    if (missing.length === 0)
      return {
        check: 'commands',
        level: 'ok',
        about: label,
        message: `Its entry ${entry} for Assay is usable.`,
      };
    const paths = missing.map((path) => JSON.stringify(path)).join(', ');
    return {
      check: 'commands',
      level: 'problem',
      about: label,
      message: `Its entry ${entry} for Assay names ${paths}, which ${missing.length === 1 ? 'does' : 'do'} not exist, so the client gets no tools.`,
      remedy: `Run \`assay connect ${quoteShellArgument(client)} --name ${quoteShellArgument(name)} --force\` to write the entry again, and restart the client.`,
    };
  });
}
