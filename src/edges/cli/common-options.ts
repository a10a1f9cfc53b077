import { Option, type Command } from 'commander';

/** Takes the exit code of the command that was run. */
export type Done = (exit: number) => void;

/** Where Assay keeps what it learns. */
export function withHome(command: Command): Command {
  return command.option(
    '--home <folder>',
    'where Assay keeps what it learns (default: $ASSAY_HOME, then ~/.assay)',
  );
}

/** The config file, and where Assay keeps what it learns. */
export function withConfig(command: Command): Command {
  const about = 'config file with "mcpServers" (default: $ASSAY_CONFIG, then mcp.json in the home)';
  return withHome(command.addOption(new Option('--config <file>', about)));
}
