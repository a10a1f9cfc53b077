import { execPath } from 'node:process';
import type { ChildOptions } from '../../platform/child.ts';
import type { Confined } from './watched.ts';
import { NetworkGate, type NetworkRules } from './network-gate.ts';

/**
 * Runs first in the sandbox: listens on its loopback interface, passes that socket to Assay, and is replaced by the
 * server once Assay has closed the channel.
 */
const LISTEN_FIRST = `
const { createServer } = require('node:net');
const listener = createServer();
listener.listen(0, '127.0.0.1', () => {
  const proxy = 'http://127.0.0.1:' + listener.address().port;
  const { NODE_CHANNEL_FD, NODE_CHANNEL_SERIALIZATION_MODE, ...env } = process.env;
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'])
    env[name] = env[name.toLowerCase()] = proxy;
  process.once('disconnect', () =>
    process.execve('/bin/sh', ['sh', '-c', 'exec "$@"', 'sh', ...process.argv.slice(1)], env));
  process.send('listening', listener);
});`;

/** Names of this machine, which resolve to the sandbox itself inside it. */
const OWN_NAMES: readonly string[] = ['localhost', '127.0.0.1', '::1'];

/** Precedes a sandboxed command so that its connections go through a gate of Assay. */
export const GATE_COMMAND: readonly string[] = [execPath, '--no-warnings', '-e', LISTEN_FIRST, '--'];

/** The same process, with network access through a gate of its own. Its command line must begin with `GATE_COMMAND`. */
export function wrapWithGate(options: ChildOptions, rules: NetworkRules): Confined {
  const gate = new NetworkGate(rules);
  const named = rules.allowed?.map((one) => one.replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')) ?? [];
  const direct = OWN_NAMES.some((name) => named.includes(name)) ? '' : OWN_NAMES.join(',');
  const env = { NODE_USE_ENV_PROXY: '1', NO_PROXY: direct, no_proxy: direct };
  return {
    ...options,
    env: { ...env, ...options.env },
    onHandle: (handle) => gate.serve(handle),
    refused: () => gate.denials,
    onEnd: () => gate.close(),
  };
}
