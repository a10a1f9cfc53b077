import type { ToolTrials } from './run-tool.ts';

export interface ToolTask {
  readonly tool: string;
  readonly run: () => Promise<ToolTrials>;
}

/** Runs tasks, `parallel` at a time. Calls back after each one. Resolves with the results in the order of the tasks. */
export async function runTools(
  tasks: readonly ToolTask[],
  parallel: number,
  onDone: (tool: string) => void,
): Promise<readonly ToolTrials[]> {
  const results: ToolTrials[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (;;) {
      const at = next;
      next += 1;
      const task = tasks[at];
      if (task === undefined) return;
      results[at] = await task.run();
      onDone(task.tool);
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return results;
}
