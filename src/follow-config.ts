import { type Config, type ConfigSurroundings, loadConfig } from './adapters/config/load-config.ts';
import { watchFile, type Watching } from './adapters/config/watch-file.ts';
import { sentenceOf } from './core/sentences.ts';
import type { Catalog } from './gateway/catalog/catalog.ts';
import type { Log } from './gateway/ports/link.ts';

interface Following {
  readonly around: ConfigSurroundings;
  readonly catalog: Catalog;
  readonly log: Log;
  /** Told of each good config before anything is made of it. */
  readonly learn: (config: Config) => void;
  /** Whether there is no such file yet. */
  readonly isAbsent: boolean;
}

/** Lets the catalog follow the config file as it is edited. A file that cannot be used leaves all as it was. */
export async function followConfig(
  path: string,
  { around, catalog, log, learn, isAbsent }: Following,
): Promise<Watching> {
  let reading: Promise<void> = Promise.resolve();
  let isAwaited = isAbsent;
  const read = async (): Promise<void> => {
    const config = await loadConfig(path, around);
    if (isAwaited && !config.ok && config.error.code === 'CONFIG_UNREADABLE') return;
    isAwaited = false;
    const fault = config.ok ? undefined : sentenceOf(config.error);
    if (fault !== undefined && fault !== catalog.configFault)
      log.error(`config: ${fault} What it said before stays in force.`);
    catalog.configFault = fault;
    if (!config.ok) return;
    learn(config.value);
    const before = JSON.stringify(catalog.rejected);
    const { added, changed, removed } = catalog.follow(config.value);
    const isNews = added.length + changed.length + removed.length > 0;
    if (!isNews && JSON.stringify(catalog.rejected) === before) return;
    report(config.value, log);
    log.info('config: the file has changed', { added, changed, removed });
  };
  const readSoon = (): void => {
    reading = reading.then(read).catch((error: unknown) => {
      log.error('the config could not be followed', {
        error: error instanceof Error ? error.stack : String(error),
      });
    });
  };
  const watching = await watchFile(path, readSoon);
  // It may have changed before it was watched.
  readSoon();
  return watching;
}

/** Tells the log what is wrong in a config. */
export function report({ problems, warnings }: Config, log: Log): void {
  for (const { file, line, column, key, reason, remedy } of problems)
    log.error(`config: ${key}: ${reason}. ${remedy}`, { file, line, column });
  for (const { file, line, key, reason } of warnings) log.info(`config: ${key}: ${reason}`, { file, line });
}
