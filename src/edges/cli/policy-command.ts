import { Command } from 'commander';
import { type Done, withConfig } from './common-options.ts';
import type { LabelOptions } from './labels.ts';
import type { TestPolicyOptions } from './policy.ts';
import type { Runtime } from './runtime.ts';
import type { JsonOptions } from './with-opened.ts';

/** `assay policy` with its subcommand. */
export function policyCommand(runtime: Runtime, done: Done): Command {
  const test = new Command('test')
    .argument('<name>', 'public or namespaced name of the tool')
    .argument('[arguments]', 'a JSON object, as for `assay call`; decisions do not depend on it', '{}')
    .description('explain whether a call is allowed, asked for or refused; calls nothing')
    .option('--token <name>', 'name of the token that calls (default: local)')
    .option('--toolset <name>', 'name of the toolset through which it is called')
    .option('--json', 'print JSON')
    .action(async (name: string, args: string, options: TestPolicyOptions) => {
      const { testPolicy } = await import('./policy.ts');
      done(await testPolicy(runtime, { name, args }, options));
    });
  const labels = new Command('labels')
    .description('list who has seen untrusted content or private data, or clear the labels of one')
    .option(
      '--clear <subject>',
      'name of the token whose labels no longer count; local for stdio and the command line',
    )
    .option('--json', 'print JSON')
    .action(async (options: LabelOptions) => {
      const { showLabels } = await import('./labels.ts');
      done(await showLabels(runtime, options));
    });
  const rules = new Command('rules')
    .description('list the rules of the config file and of the store')
    .option('--json', 'print JSON')
    .action(async (options: JsonOptions) => {
      const { showRules } = await import('./policy-rules.ts');
      done(await showRules(runtime, options));
    });
  return new Command('policy')
    .description('what is decided on calls of tools')
    .addCommand(withConfig(test))
    .addCommand(withConfig(rules))
    .addCommand(withConfig(labels));
}
