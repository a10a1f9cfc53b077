import module, { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import process from 'node:process';
import { Readable } from 'node:stream';

/**
 * Takes away what Node's permission model leaves: what reaches other processes, and the streams over which Assay is
 * spoken to. `onExit` ends the process in place of `process.exit`.
 */
export function takeAway(onExit: (code: unknown) => never): void {
  for (const name of REACHING_OUT) deny(process, name, `process.${name}`);
  deny(os, 'setPriority', 'os.setPriority');
  // Hooks of the module would come before ours.
  for (const name of ['register', 'registerHooks']) deny(module, name, `module.${name}`);
  replace(process, 'exit', onExit);
  replace(process, 'stdin', Readable.from([]));
  // What the module prints goes where the log is.
  replace(process, 'stdout', process.stderr);
  const builtin = process.getBuiltinModule.bind(process);
  const guarded = (id: string): object | undefined => (refuseBuiltin(id), builtin(id));
  replace(process, 'getBuiltinModule', guarded);
  syncBuiltinESMExports();
}

/** Throws for a module of Node that writes files whatever the permissions are. */
export function refuseBuiltin(specifier: string): void {
  if (specifier === 'node:sqlite')
    throw new Error('A function may not use node:sqlite, as it could write any file with it.');
}

const REACHING_OUT = [
  'kill',
  '_kill',
  '_debugProcess',
  '_debugEnd',
  'abort',
  'dlopen',
  'binding',
  '_linkedBinding',
  'execve',
];

function deny(owner: object, name: string, shown: string): void {
  replace(owner, name, () => {
    throw new Error(`A function may not use ${shown}.`);
  });
}

function replace(owner: object, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { value, writable: true, configurable: false, enumerable: true });
}
