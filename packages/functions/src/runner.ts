// The process of one function module. Started by adapters/sources/functions, confined by Node flags.
import { dirname } from 'node:path';
import process from 'node:process';
import type { LoadMessage, ToRunner } from './function-messages.ts';
import type { ReadTools } from './exported-tools.ts';
import { formatThrown, getCallPosition, tryToString, type FaultContext } from './fault-text.ts';
import { openHost, type Host } from './host.ts';
import { loadModule } from './load-module.ts';
import { serializeError } from './result-text.ts';
import { RunningCalls } from './running-calls.ts';
import { hardenGlobals } from './harden-globals.ts';

interface LoadedTools {
  readonly calls: RunningCalls;
  readonly tools: ReadTools['tools'];
}

let serving: LoadedTools | undefined;
openHost((message, host) => {
  if (message.kind === 'load') void load(message, host);
  else answer(message, host);
});

async function load(loading: LoadMessage, host: Host): Promise<void> {
  const context = { folder: dirname(loading.path) };
  hardenGlobals((code) => leave(code, host, context));
  process.on('uncaughtException', (thrown) => stray(thrown, host, context));
  process.on('unhandledRejection', (thrown) =>
    host.send({ kind: 'stray', fault: formatThrown(thrown, context) }),
  );
  const loaded = await loadModule(loading, (path) => host.send({ kind: 'file', path }));
  if (!loaded.ok) {
    host.send({ kind: 'broken', fault: loaded.error });
    return;
  }
  const { tools, skipped, writeZod } = loaded.value;
  serving = { calls: new RunningCalls({ ...context, host, writeZod }), tools };
  host.send({ kind: 'ready', tools: [...tools.values()].map(({ facts }) => facts), skipped });
}

function answer(message: Exclude<ToRunner, LoadMessage>, host: Host): void {
  switch (message.kind) {
    case 'ping':
      return host.send({ kind: 'pong', id: message.id });
    case 'cancel':
      return serving?.calls.cancel(message.id);
    case 'answer':
      return serving?.calls.answer(message.id, message.answer);
    case 'call': {
      const tool = serving?.tools.get(message.tool);
      if (serving === undefined || tool === undefined)
        return host.sendDone(message.id, serializeError('The module has no such tool any more.'));
      void serving.calls.run(message.id, tool, message.args);
    }
  }
}

function leave(code: unknown, host: Host, context: FaultContext): never {
  const value = code ?? process.exitCode ?? 0;
  host.send({ kind: 'exit', code: tryToString(() => value) ?? '?', at: getCallPosition(context) });
  host.exit(typeof value === 'number' ? value : 0);
}

function stray(thrown: unknown, host: Host, context: FaultContext): void {
  if (serving?.calls.failCurrent(thrown) !== true)
    host.send({ kind: 'stray', fault: formatThrown(thrown, context) });
}
