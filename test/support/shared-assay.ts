import { renameSync, writeFileSync } from 'node:fs';
import type { AssayOptions, Gateway } from './assay.ts';
import { startGateway } from './gateway.ts';
import { sleep, until } from './endings.ts';
import { at, listAt, type JsonObject } from './json.ts';
import { tempDir, writeConfig } from './paths.ts';

/** One `assay serve` for many tests, each of which adds servers under unique names. */
export interface SharedAssay {
  readonly assay: Gateway;
  readonly home: string;
  /** Adds them to the config file and waits until each has started or failed. */
  readonly add: (servers: JsonObject) => Promise<void>;
}

export async function startShared(
  options: Pick<AssayOptions, 'servers' | 'env' | 'settings' | 'home'> = {},
): Promise<SharedAssay> {
  const { home = tempDir(), servers: first = {}, settings = {} } = options;
  const config = writeConfig(first, settings);
  const assay = await startGateway({ ...options, home, config });
  const all = { ...first };
  return {
    assay,
    home,
    add: async (servers) => {
      Object.assign(all, servers);
      writeFileSync(`${config}.new`, JSON.stringify({ mcpServers: all, ...settings }));
      renameSync(`${config}.new`, config);
      await until('the added servers had their chance to start', async () => {
        const there = listAt(await assay.health(), 'servers');
        const stateOf = (name: string): unknown =>
          at(
            there.find((one) => at(one, 'name') === name),
            'state',
          );
        return Object.keys(servers).every(
          (name) => ![undefined, 'starting'].includes(stateOf(name) as string),
        )
          ? true
          : undefined;
      });
      // As after a start: changes are announced a moment later.
      await sleep(150);
    },
  };
}
