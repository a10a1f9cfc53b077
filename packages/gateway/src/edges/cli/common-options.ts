import { Option, type Command } from 'commander';
import type { AppOptions } from '../../core/command-options.ts';

/** Receives the exit code of the command. */
export type Done = (exit: number) => void;

/** Adds the option for the home folder. */
export function withHome(command: Command): Command {
  return command.option('--home <folder>', 'data folder (default: $ASSAY_HOME, then ~/.assay)');
}

/** Adds the options for config file and home folder. */
export function withConfig(command: Command): Command {
  const about = 'config file with "mcpServers" (default: $ASSAY_CONFIG, then mcp.json in the home)';
  return withHome(command.addOption(new Option('--config <file>', about)));
}

export interface JsonOptions extends AppOptions {
  readonly json?: boolean;
}
