import { join } from 'node:path';
import { connectMade } from './adapters/sources/connect-made.ts';
import { watchFile } from './adapters/config/watch-file.ts';
import type { FilterRunner } from './adapters/sources/http/filter-processes.ts';
import type { HttpPort } from './adapters/sources/http/open-http.ts';
import type { ReachRules } from './core/reach.ts';
import { isMade } from './core/server-spec.ts';
import type { Connect, Log } from './gateway/ports/link.ts';
import { pathFaultPhrase } from './core/sentences.ts';
import { unsafePath, type PathChecks } from './platform/path-safety.ts';

export interface Connecting {
  /** Reaches MCP servers. */
  readonly downstream: Connect;
  readonly log: Log;
  /** Takes out of a text what is secret. */
  readonly mask: (text: string) => string;
  /** Absolute path of the folder with Assay's own secrets. */
  readonly home: string;
  readonly around: PathChecks;
  readonly rules: ReachRules;
}

export interface Connected {
  readonly connect: Connect;
  readonly close: () => Promise<void>;
}

/** The build puts it beside the program. */
const RUNNER = join(import.meta.dirname, 'function-runner.js');

/** Reaches sources of every kind: servers, and what Assay makes tools of itself. */
export function connectAll({ downstream, log, mask, home, around, rules }: Connecting): Connected {
  let opening: Promise<HttpPort> | undefined;
  const openHttp = (): Promise<HttpPort> => (opening ??= openHttpWithin(rules));
  let filtering: Promise<FilterRunner> | undefined;
  const openFilters = (): Promise<FilterRunner> => (filtering ??= newFilters());
  const made = connectMade({
    ...{ log, mask, home, openHttp, openFilters, runner: RUNNER, watch: watchFile },
    fileFault: async (path) => {
      const fault = await unsafePath(path, around);
      return fault && `could be changed by others: ${pathFaultPhrase(fault)}`;
    },
  });
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

async function openHttpWithin(rules: ReachRules): Promise<HttpPort> {
  const { openHttp } = await import('./adapters/sources/http/open-http.ts');
  return openHttp({ rules });
}
