import type { Finding } from './finding.ts';
import { splitCommandRemedy } from './split-command.ts';
import { quoteShellArgument } from '@assay-mcp/kit/shell-argument';

/** Where the command of a server was found, if at all. */
export type CommandLocation =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'not_executable'; readonly path: string }
  | { readonly kind: 'absent' };

/** The command of one stdio server. */
export interface CommandFacts {
  readonly server: string;
  readonly command: string;
  readonly location: CommandLocation;
  readonly cwd: string;
  readonly cwdIs: 'folder' | 'absent' | 'not_a_folder';
}

/** Checks that the command of each stdio server exists and is executable, and that its working folder exists. */
export function checkCommands(all: readonly CommandFacts[]): readonly Finding[] {
  return all.flatMap((facts) => {
    const cwd = checkCwd(facts);
    const command = checkLocation(facts);
    if (cwd === undefined) return [command];
    // A relative command is resolved against the folder, so its absence adds nothing.
    return command.level === 'ok' ? [cwd] : [cwd, command];
  });
}

function checkCwd({ server, cwd, cwdIs }: CommandFacts): Finding | undefined {
  if (cwdIs === 'folder') return undefined;
  const what = cwdIs === 'absent' ? 'does not exist' : 'is not a folder';
  return {
    check: 'commands',
    level: 'problem',
    about: server,
    message: `Its working folder ${JSON.stringify(cwd)} ${what}, so it cannot be started.`,
    remedy: `Make the folder, or set another "cwd" in its config entry.`,
  };
}

function checkLocation({ server, command, location }: CommandFacts): Finding {
  const shown = JSON.stringify(command);
  switch (location.kind) {
    case 'found':
      return {
        check: 'commands',
        level: 'ok',
        about: server,
        message: location.path === command ? `${shown} is there.` : `${shown} is ${location.path}.`,
      };
    case 'not_executable':
      return {
        check: 'commands',
        level: 'problem',
        about: server,
        message: `${shown} is ${location.path}, which may not be executed, so the server cannot be started.`,
        remedy: `Run \`chmod +x ${quoteShellArgument(location.path)}\`, or name the program that runs it as "command" and the file in "args".`,
      };
    case 'absent':
      return {
        check: 'commands',
        level: 'problem',
        about: server,
        message: /[/\\]/.test(command)
          ? `There is no file ${shown}, so the server cannot be started.`
          : `The command ${shown} was not found in any folder of PATH, so the server cannot be started.`,
        remedy: splitCommandRemedy(command) ?? installRemedy(command),
      };
  }
}

const INSTALLS: readonly (readonly [commands: readonly string[], remedy: string])[] = [
  [['node', 'npx', 'npm'], 'It comes with Node: install that from https://nodejs.org.'],
  [['uvx', 'uv'], 'It comes with uv: install that as https://docs.astral.sh/uv/ says.'],
  [['docker'], 'Install Docker as https://docs.docker.com/get-docker/ says.'],
  [['podman'], 'Install Podman as https://podman.io says.'],
  [['python', 'python3', 'pip', 'pipx'], 'Install Python from https://www.python.org or your system.'],
  [['bun', 'bunx'], 'It comes with Bun: install that as https://bun.sh says.'],
  [['deno'], 'Install Deno as https://deno.com says.'],
];

function installRemedy(command: string): string {
  const anyway = 'If it is installed, write its absolute path as "command", or set PATH in "env".';
  const bare = command.replace(/\.(?:exe|cmd)$/i, '');
  const found = INSTALLS.find(([commands]) => commands.includes(bare));
  return `${found?.[1] ?? 'Install it.'} ${anyway}`;
}
