import type { Result } from '../../core/result.ts';
import type { EntryFault } from '../../core/json-place.ts';
import type { FunctionModuleSpec, RestToolSpec } from '../../core/sources/custom-tools.ts';
import type { GatewayEntry } from './gateways.ts';

/** Reads an entry as that of a config file is read, but for variables. */
export interface ReadLocal {
  tool(name: string, entry: GatewayEntry): Result<RestToolSpec, readonly EntryFault[]>;
  module(entry: GatewayEntry): Result<FunctionModuleSpec, readonly EntryFault[]>;
}
