import { Command, Option } from 'commander';
import { APPROVAL_SCOPES } from '../../core/approval.ts';
import type { ApproveOptions, DenyOptions, ListApprovalsOptions } from './approvals.ts';
import { type Done, withHome } from './common-options.ts';
import type { Runtime } from './runtime.ts';

/** `assay approvals` with its subcommands. */
export function approvalsCommand(runtime: Runtime, done: Done): Command {
  const common = (command: Command): Command => withHome(command).option('--json', 'print JSON');
  const approve = common(new Command('approve'))
    .argument('<id>')
    .description('approve a call that waits')
    .addOption(
      new Option(
        '--for <scope>',
        'this call, all of its session, all to its server in the session, or all until the tool changes',
      )
        .choices(APPROVAL_SCOPES)
        .default('once'),
    )
    .action(async (id: string, options: ApproveOptions) => {
      const { approve: run } = await import('./approvals.ts');
      done(await run(runtime, id, options));
    });
  const deny = common(new Command('deny'))
    .argument('<id>')
    .description('deny a call that waits')
    .option('--reason <text>', 'why, for the model')
    .action(async (id: string, options: DenyOptions) => {
      const { deny: run } = await import('./approvals.ts');
      done(await run(runtime, id, options));
    });
  const revoke = common(new Command('revoke'))
    .argument('<id>')
    .description('take back an approval that was not used up')
    .action(async (id: string, options: ListApprovalsOptions) => {
      const { revoke: run } = await import('./approvals.ts');
      done(await run(runtime, id, options));
    });
  const list = common(new Command('list'))
    .description('list calls that wait')
    .option('--all', 'also list those that were answered')
    .action(async (options: ListApprovalsOptions) => {
      const { list: run } = await import('./approvals.ts');
      done(await run(runtime, options));
    });
  const show = common(new Command('show'))
    .argument('<id>')
    .description('show a call with all its arguments')
    .action(async (id: string, options: ListApprovalsOptions) => {
      const { showOne: run } = await import('./approvals.ts');
      done(await run(runtime, id, options));
    });
  const approvals = new Command('approvals').description('list and answer calls that wait for approval');
  approvals.addCommand(list, { isDefault: true });
  for (const command of [show, approve, deny, revoke]) approvals.addCommand(command);
  return approvals;
}
