import type { Finding } from './finding.ts';
import { quoteShellArgument } from '@assay-mcp/kit/shell-argument';

/** An error or warning at one position in the config file. */
export interface ConfigFault {
  readonly level: 'problem' | 'warning';
  readonly line: number;
  readonly column: number;
  readonly key: string;
  /** A phrase. */
  readonly reason: string;
  readonly remedy: string;
}

export interface ConfigFacts {
  readonly path: string;
  readonly origin: '--config' | 'ASSAY_CONFIG' | 'ASSAY_HOME' | 'default';
  /** Environment variables with values that are not valid for their setting. */
  readonly settingFaults: readonly string[];
  readonly reading:
    | { readonly kind: 'refused'; readonly sentence: string; readonly isAbsent: boolean }
    | {
        readonly kind: 'read';
        readonly servers: number;
        readonly faults: readonly ConfigFault[];
        /** Permission bits. Undefined if the system has none. */
        readonly mode: number | undefined;
        /** Keys with secrets in clear text: `mcpServers.git.env.TOKEN`. */
        readonly clearSecrets: readonly string[];
        /** The same for arguments: `mcpServers.git.args[1]`. */
        readonly secretArguments: readonly string[];
      };
}

/** Reports the config file's location and origin, its errors, and whether other users can read its secrets. */
export function checkConfig(facts: ConfigFacts): readonly Finding[] {
  return [
    ...facts.settingFaults.map((message): Finding => ({
      check: 'config',
      level: 'problem',
      about: 'environment',
      message,
      remedy: 'Correct the variable, or unset it.',
    })),
    ...checkReading(facts),
  ];
}

const NAMED_BY: Readonly<Record<ConfigFacts['origin'], string>> = {
  '--config': 'named by --config',
  ASSAY_CONFIG: 'named by ASSAY_CONFIG',
  ASSAY_HOME: 'mcp.json in the folder set by --home or ASSAY_HOME',
  default: 'the default config file',
};

function checkReading({ path, origin, reading }: ConfigFacts): readonly Finding[] {
  const about = path;
  const namedBy = NAMED_BY[origin];
  if (reading.kind === 'refused')
    return [
      {
        check: 'config',
        level: 'problem',
        about,
        message: `${reading.sentence} It is ${namedBy}.`,
        remedy: reading.isAbsent
          ? 'Put the "mcpServers" of your client into this file, or name another one with --config.'
          : 'Fix the file, or name another one with --config.',
      },
    ];
  const faults = reading.faults.map((fault) => complained(path, fault));
  const { servers, mode, clearSecrets, secretArguments } = reading;
  const found: Finding =
    servers === 0
      ? {
          check: 'config',
          level: 'problem',
          about,
          message: `It does not contain a usable server, so there is nothing to serve. It is ${namedBy}.`,
          remedy: 'Add servers under "mcpServers".',
        }
      : {
          check: 'config',
          level: 'ok',
          about,
          message: `It has ${countedServers(servers)}. It is ${namedBy}.`,
        };
  return [
    found,
    ...faults,
    ...checkSecrets({ path, mode, clearSecrets }),
    ...checkArguments(path, secretArguments),
  ];
}

function countedServers(servers: number): string {
  return servers === 1 ? '1 usable server' : `${servers} usable servers`;
}

function complained(path: string, { level, line, column, key, reason, remedy }: ConfigFault): Finding {
  const effect = level === 'problem' ? '; it is left out' : '';
  return {
    check: 'config',
    level,
    about: `${path}:${line}:${column}`,
    message: `${key}: ${reason}${effect}.`,
    remedy,
  };
}

const OTHERS = 0o077;
const MAX_KEYS = 5;

function checkSecrets({
  path,
  mode,
  clearSecrets,
}: {
  readonly path: string;
  readonly mode: number | undefined;
  readonly clearSecrets: readonly string[];
}): readonly Finding[] {
  if (mode === undefined || (mode & OTHERS) === 0 || clearSecrets.length === 0) return [];
  const octal = (mode & 0o777).toString(8);
  return [
    {
      check: 'config',
      level: 'warning',
      about: path,
      message: `It contains what looks like a secret (${listOf(clearSecrets)}), and other users of this machine have access to the file (mode ${octal}).`,
      remedy: `Run \`chmod 600 ${quoteShellArgument(path)}\`, or replace each secret by \${VAR} and set the variable.`,
    },
  ];
}

/** The file's mode does not matter: running programs show their arguments to all users. */
function checkArguments(path: string, secretArguments: readonly string[]): readonly Finding[] {
  if (secretArguments.length === 0) return [];
  return [
    {
      check: 'config',
      level: 'warning',
      about: path,
      message: `Arguments contain what looks like a secret (${listOf(secretArguments)}). Other users of this machine can see the arguments of running programs.`,
      remedy:
        'Pass it as a variable in "env" if the server reads one. Otherwise write ${VAR} in its place, so that at least the file does not contain it.',
    },
  ];
}

function listOf(keys: readonly string[]): string {
  return keys.slice(0, MAX_KEYS).join(', ') + (keys.length > MAX_KEYS ? ', …' : '');
}
