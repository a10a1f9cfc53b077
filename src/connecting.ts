import { join } from 'node:path';
import { connectMade } from './adapters/sources/connect-made.ts';
import { watchFile } from './adapters/config/watch-file.ts';
import type { FilterRunner } from './adapters/sources/http/filter-processes.ts';
import type { HttpPort } from './adapters/sources/http/http-port.ts';
import { isMade } from './core/server-spec.ts';
import type { Settings } from './core/settings.ts';
import type { Connect, Log } from './gateway/ports.ts';
import type { Reach } from './platform/addresses.ts';

export interface Connecting {
  /** Reaches MCP servers. */
  readonly downstream: Connect;
  readonly log: Log;
  /** Takes out of a text what is secret. */
  readonly mask: (text: string) => string;
  /** Absolute path of the folder with Assay's own secrets. */
  readonly home: string;
  readonly settings: Pick<Settings, 'http.allowLoopback' | 'http.allowPrivate'>;
}

export interface Connected {
  readonly connect: Connect;
  readonly close: () => Promise<void>;
}

/** The build puts it beside the program. */
const RUNNER = join(import.meta.dirname, 'function-runner.js');

/** Reaches sources of every kind: servers, and what Assay makes tools of itself. */
export function connectAll({ downstream, log, mask, home, settings }: Connecting): Connected {
  let opening: Promise<HttpPort> | undefined;
  const openHttp = (): Promise<HttpPort> => (opening ??= openHttpWithin(settings));
  let filtering: Promise<FilterRunner> | undefined;
  const openFilters = (): Promise<FilterRunner> => (filtering ??= newFilters());
  const made = connectMade({ log, mask, home, openHttp, openFilters, runner: RUNNER, watch: watchFile });
  return {
    connect: (spec, asked) => (isMade(spec.transport) ? made(spec, asked) : downstream(spec, asked)),
    close: async () => {
      await Promise.all([opening, filtering].map(async (opened) => (await opened)?.close()));
    },
  };
}

async function newFilters(): Promise<FilterRunner> {
  const { FilterProcesses } = await import('./adapters/sources/http/filter-processes.ts');
  return new FilterProcesses();
}

async function openHttpWithin(settings: Connecting['settings']): Promise<HttpPort> {
  const { openHttp } = await import('./adapters/sources/http/open-http.ts');
  const reaches = new Set<Reach>(['public']);
  if (settings['http.allowLoopback']) reaches.add('loopback');
  if (settings['http.allowPrivate']) reaches.add('private');
  return openHttp({ reaches, forbidden });
}

const SETTING_OF: ReadonlyMap<Reach, string> = new Map([
  ['loopback', 'http.allowLoopback (ASSAY_HTTP_ALLOW_LOOPBACK=true)'],
  ['private', 'http.allowPrivate (ASSAY_HTTP_ALLOW_PRIVATE=true)'],
]);

function forbidden(reaches: readonly Reach[]): string {
  const names = reaches.flatMap((reach) => SETTING_OF.get(reach) ?? []);
  return names.length === 0
    ? 'No setting lets requests go there.'
    : `An operator lets requests go there with the setting ${names.join(' and ')}.`;
}
