import module, { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import process from 'node:process';
import { Readable } from 'node:stream';
import trace from 'node:trace_events';
import v8 from 'node:v8';

/**
 * Takes away what Node's permission model leaves: what reaches other processes, and the streams over which Assay is
 * spoken to. `onExit` ends the process in place of `process.exit`.
 */
export function takeAway(onExit: (code: unknown) => never): void {
  for (const name of REACHING_OUT) deny(process, name, `process.${name}`);
  deny(os, 'setPriority', 'os.setPriority');
  for (const name of V8_FILES) deny(v8, name, `v8.${name}`);
  deny(trace, 'createTracing', 'trace_events.createTracing');
  // Reports and snapshots at a fatal error are written where no permission is asked for.
  replace(process, 'report', REPORT);
  deny(module, 'enableCompileCache', 'module.enableCompileCache');
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

/** Flags of V8 open files of their own, and snapshots at the end of the heap too. */
const V8_FILES = [
  'setFlagsFromString',
  'setHeapSnapshotNearHeapLimit',
  'getHeapSnapshot',
  'takeCoverage',
  'stopCoverage',
];

/** What reads of a report; it is written nowhere. */
const REPORT = {
  getReport: process.report.getReport.bind(process.report),
  writeReport: (): never => {
    throw new Error('A function may not use process.report.writeReport.');
  },
};

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
