import { Command } from 'commander';
import { defineCodebaseCommand } from '@assay-mcp/kit/platform/terminal/codebase-command';
import { openOrFetch } from './ask.ts';
import type { Done } from './common-options.ts';
import { printRefusal } from './output.ts';
import type { Runtime } from './runtime.ts';

/** `assay codebase`: the code-search server and its tools as commands, which the package assay-codebase runs. */
export function codebaseCommand(runtime: Runtime, done: Done): Command {
  return defineCodebaseCommand(new Command('codebase'), async (request) => {
    const open = (): ReturnType<Runtime['openCodebase']> => runtime.openCodebase(request);
    // What serves needs stdin for its client.
    const opened = await (request.kind === 'serve' ? open() : openOrFetch(runtime, request, open));
    done(opened.ok ? await opened.value.runRequest(request, 'assay codebase') : printRefusal(opened.error));
  });
}
