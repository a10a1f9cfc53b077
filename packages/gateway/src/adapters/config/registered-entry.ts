import { resolve } from 'node:path';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { type EntryFault, toEntryFault, type Fault } from '@assay-mcp/kit/json-position';
import { readFunctionModule } from '../../core/sources/read-function-module.ts';
import { readRestTool } from '../../core/sources/read-rest-tool.ts';
import type { ReadEntry, ReadCustom } from '../../gateway/ports/config-entries.ts';
import { formatKeyPath } from './problem-collector.ts';
import { expandHome } from '@assay-mcp/kit/platform/locate-home';
import { readConfigText, type ConfigEnvironment } from './load-config.ts';

/** Reads registered entries like those of a config file in the home. */
export function createEntryReader(
  environment: Pick<ConfigEnvironment, 'cwd' | 'home' | 'assayHome'>,
): ReadEntry {
  return (name, entry) => {
    // Registering a server must not reveal which files exist.
    if (isJsonObject(entry) && Object.hasOwn(entry, 'envFile'))
      return err([
        {
          field: 'envFile',
          reason: 'Only an entry of the config file may name a file of variables. Write them under "env".',
        },
      ]);
    // A disabled entry must be valid too.
    const mcpServers = { [name]: isJsonObject(entry) ? { ...entry, disabled: false } : entry };
    const config = readConfigText('', JSON.stringify({ mcpServers }), { ...environment, env: {} });
    if (!config.ok) return err([{ field: '', reason: 'It is not a server.' }]);
    const { servers, problems, warnings } = config.value;
    const [server] = servers;
    const position = formatKeyPath(['mcpServers', name]);
    const faults = [...problems, ...warnings].map(({ key, reason, remedy }): EntryFault => {
      const [field = ''] = /^[\w$-]+/.exec(key.slice(position.length + 1)) ?? [];
      return { field, reason: `${reason}. ${remedy}` };
    });
    if (server === undefined || faults.length > 0) return err(faults);
    const { isFromConfig, ...registered } = server;
    return ok(registered);
  };
}

/** Reads operators' tools and modules as if they were in a config file; relative paths start at the given folder. */
export function createCustomReader({ cwd, home }: Pick<ConfigEnvironment, 'cwd' | 'home'>): ReadCustom {
  const inSentences = <T>(read: Result<T, readonly Fault[]>): Result<T, readonly EntryFault[]> =>
    read.ok ? read : err(read.error.map(toEntryFault));
  return {
    tool: (name, entry) => inSentences(readRestTool(name, entry)),
    module: (entry) => inSentences(readFunctionModule(entry, (path) => resolve(cwd, expandHome(path, home)))),
  };
}
