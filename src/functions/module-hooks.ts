import { registerHooks } from 'node:module';
import { sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { refuseBuiltin } from './take-away.ts';

// Taken before it is taken away.
const hook = registerHooks;

export interface Hooking {
  /** Folder of the module. */
  readonly folder: string;
  /** Real path of a package.json of zod. */
  readonly zod: string | undefined;
  /** URL of what `assay-mcp` is. */
  readonly own: string;
  /** Told of each file in the folder, packages aside. */
  readonly onFile: (path: string) => void;
}

/** Lets a module import `assay-mcp` and zod though nothing is installed beside it. */
export function hookModules({ folder, zod, own, onFile }: Hooking): void {
  hook({
    resolve(specifier, context, next) {
      refuseBuiltin(specifier);
      if (specifier === 'assay-mcp') return { url: own, format: 'module', shortCircuit: true };
      if (!/^zod(?:\/|$)/.test(specifier)) return next(specifier, context);
      try {
        return next(specifier, context);
      } catch (error) {
        if (zod === undefined) throw error;
        // A package knows itself by its own name.
        return next(specifier, { ...context, parentURL: pathToFileURL(zod).href });
      }
    },
    load(url, context, next) {
      refuseBuiltin(url);
      const path = url.startsWith('file:') ? fileURLToPath(url) : '';
      if (path.startsWith(folder + sep) && !path.includes(`${sep}node_modules${sep}`)) onFile(path);
      return next(url, context);
    },
  });
}
