import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminClient, type AdminClient } from './admin.ts';
import type { Gateway } from './assay.ts';
import { startGateway, type GatewayOptions } from './gateway.ts';
import type { Json, JsonObject } from './json.ts';
import { tempDir } from './paths.ts';
import { keepToken } from './tokens.ts';
import { meet, type Model } from './toolsets.ts';

/** Assay with a config file in a folder of function modules that a test can edit. */
export interface Functions {
  readonly assay: Gateway;
  readonly admin: AdminClient;
  /** May administer but not run tools. */
  readonly limited: AdminClient;
  readonly home: string;
  readonly folder: string;
  readonly config: string;
  path(file: string): string;
  write(file: string, text: string): void;
  /** Rewrites the config. */
  configure(config: JsonObject): void;
  meet(era: 'legacy' | 'modern'): Promise<Omit<Model, 'home'>>;
}

export interface Serving {
  readonly files: Readonly<Record<string, string>>;
  readonly functions?: readonly Json[];
  /** Other members of the config. */
  readonly more?: JsonObject;
  readonly env?: Readonly<Record<string, string>>;
}

export function serveFunctions(serving: Serving): Promise<Functions> {
  return startFunctions(startGateway, serving);
}

export async function startFunctions<T extends Gateway>(
  start: (options: GatewayOptions) => Promise<T>,
  { files, functions = [], more = {}, env = {} }: Serving,
): Promise<Functions & { readonly assay: T }> {
  const [home, folder] = [tempDir(), tempDir()];
  mkdirSync(folder, { recursive: true });
  const write = (file: string, text: string): void => {
    // Concurrent readers see either the old or the new file.
    writeFileSync(join(folder, `${file}.new`), text);
    renameSync(join(folder, `${file}.new`), join(folder, file));
  };
  for (const [file, text] of Object.entries(files)) write(file, text);
  const configure = (config: JsonObject): void => write('mcp.json', JSON.stringify(config));
  configure({ mcpServers: {}, functions, ...more });
  const config = join(folder, 'mcp.json');
  const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
  const less = await keepToken(home, 'limited', { scopes: ['admin'] });
  const assay = await start({ config, home, env });
  await assay.settled();
  return {
    assay,
    admin: adminClient(assay, token),
    limited: adminClient(assay, less),
    home,
    folder,
    config,
    path: (file) => join(folder, file),
    write,
    configure,
    meet: (era) => meet({ url: assay.url }, era),
  };
}
