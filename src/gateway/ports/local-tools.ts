import type { Result } from '../../core/result.ts';
import type { EntryFault } from '../../core/sources/entry-fault.ts';
import type { FunctionModuleSpec } from '../../core/sources/function-module.ts';
import type { RestToolSpec } from '../../core/sources/rest-tool.ts';
import type { GatewayEntry, GatewayWord } from './gateways.ts';

/** A tool or a module as it is kept: encrypted, as headers and variables may be secret. A module's name is its path. */
export type LocalWord = GatewayWord;

/** Reads an entry as that of a config file is read, but for variables. */
export interface ReadLocal {
  tool(name: string, entry: GatewayEntry): Result<RestToolSpec, readonly EntryFault[]>;
  module(entry: GatewayEntry): Result<FunctionModuleSpec, readonly EntryFault[]>;
}
