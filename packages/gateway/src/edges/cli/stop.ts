import { Command } from 'commander';
import type { AppOptions } from '../../core/command-options.ts';
import { EXIT } from '../../core/errors.ts';
import { print } from '@assay-mcp/kit/platform/terminal/print';
import { type Done, withConfig } from './common-options.ts';
import { printRefusal } from './output.ts';
import type { Runtime } from './runtime.ts';

/** `assay stop` */
export function stopCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('stop')
      .description('end the gateway of this home once the requests in progress are answered')
      .action(async (options: AppOptions) => done(await stop(runtime, options))),
  );
}

async function stop(runtime: Runtime, options: AppOptions): Promise<number> {
  const stopped = await runtime.stopGateway(options);
  if (!stopped.ok) return printRefusal(stopped.error);
  const { value } = stopped;
  if (value === undefined) print('No gateway is running with this home and config.');
  else print(`Stopped (pid ${value.pid}). A client that attaches starts the gateway again.`);
  const service = await runtime.findService(options);
  if (service.ok && service.value.isInstalled)
    print(
      `The service ${service.value.name} starts it again. \`assay service install --undo\` removes the service.`,
    );
  return EXIT.done;
}
