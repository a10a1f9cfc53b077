import { runAssay } from './commands.ts';
import { at, listAt, parseJson, textAt, type Json } from './json.ts';
import { fixture, tempDir, writeConfig } from './paths.ts';

/** Runs commands on the toolsets of one home folder. */
export interface Operator {
  readonly home: string;
  readonly run: (...args: readonly string[]) => ReturnType<typeof runAssay>;
  /** Stdout of a finished command, as JSON. */
  readonly json: (...args: readonly string[]) => Promise<Json>;
}

export function newOperator(config: string = writeConfig({ plain: fixture('plain') })): Operator {
  const home = tempDir();
  const run: Operator['run'] = (...args) =>
    runAssay(args, { env: { ASSAY_HOME: home, ASSAY_CONFIG: config } });
  return {
    home,
    run,
    json: async (...args) => {
      const { code, stdout, stderr } = await run(...args, '--json');
      if (code !== 0) throw new Error(`assay ${args.join(' ')} ended with ${String(code)}: ${stderr}`);
      return parseJson(stdout);
    },
  };
}

/** The refId of a tool, from `assay tools --json`. */
export async function refIdOf(operator: Operator, namespacedName: string): Promise<string> {
  const tools = listAt(await operator.json('tools'), 'tools');
  return textAt(
    tools.find((tool) => at(tool, 'namespacedName') === namespacedName),
    'refId',
  );
}
