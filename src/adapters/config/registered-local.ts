import { resolve } from 'node:path';
import { readFunctionModule } from '../../core/sources/read-function-module.ts';
import { readRestTool } from '../../core/sources/read-rest-tool.ts';
import type { ReadLocal } from '../../gateway/ports/local-tools.ts';
import type { ConfigSurroundings } from './load-config.ts';
import { expandHome } from './expand.ts';

/** Reads what operators made themselves as that of a config file is read; a path of it is one from the folder given. */
export function localReader({ cwd, home }: Pick<ConfigSurroundings, 'cwd' | 'home'>): ReadLocal {
  return {
    tool: readRestTool,
    module: (entry) => readFunctionModule(entry, (path) => resolve(cwd, expandHome(path, home))),
  };
}
