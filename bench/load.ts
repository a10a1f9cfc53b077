// The load generator, in its own process so that its cost never counts as a target's.
import { callForJob } from './load-calls.ts';
import type { FromLoad, Job, ToLoad } from './load-jobs.ts';
import { pagesForJob } from './load-pages.ts';

let go: (() => void) | undefined;

process.on('message', (message: ToLoad) => {
  if (message.kind === 'go') go?.();
  else
    run(message.job).then(say, (error: unknown) => {
      say({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) });
    });
});
process.on('disconnect', () => process.exit(0));

async function run(job: Job): Promise<FromLoad> {
  if (job.kind === 'pages') return { kind: 'pages-done', outcome: await pagesForJob(job) };
  const outcome = await callForJob(job, async () => {
    const started = new Promise<void>((resolve) => (go = resolve));
    say({ kind: 'warm' });
    await started;
  });
  return { kind: 'calls-done', outcome };
}

function say(message: FromLoad): void {
  process.send?.(message);
}
