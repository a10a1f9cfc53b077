import { existsSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { chooseArguments } from '../../packages/verify/src/arguments/choose-arguments.ts';
import { Knowledge } from '../../packages/verify/src/arguments/knowledge.ts';
import { prepareSeed } from '../../packages/verify/src/seed.ts';
import { endOpened } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { at, parseJson, type Json } from '../support/json.ts';
import { type LegacySession, openSession, textOf } from '../support/legacy.ts';
import type { StudyServer } from './servers.ts';

/** Read-only tools that answered without an error on their server. */
export interface TwinReport {
  readonly tools: readonly {
    readonly name: string;
    /** The error of the same call on the twin. Undefined if it answered there, too. */
    readonly failure?: string | undefined;
  }[];
}

/** Calls each read-only tool of a server with and without `sandbox: "twin"`, on the same files and with the same arguments. */
export async function compareTwin(
  server: StudyServer,
  { program, files }: { readonly program: string; readonly files: string },
): Promise<TwinReport> {
  const fixtures = await fixturesIn(files);
  const own = join(files, 'seed');
  const seed = await prepareSeed(existsSync(own) ? own : undefined);
  const withSeed = (text: string): string => text.replaceAll('{seed}', seed.folder);
  const entry = {
    command: process.execPath,
    args: [program, ...(server.args ?? []).map(withSeed)],
    env: Object.fromEntries(Object.entries(server.env ?? {}).map(([name, text]) => [name, withSeed(text)])),
    cwd: seed.folder,
  };
  try {
    const gateway = await startGateway({ servers: { plain: entry, twin: { ...entry, sandbox: 'twin' } } });
    await gateway.settled();
    const session = await openSession(gateway.url);
    const scene = {
      ...seed,
      files: within(seed.folder, seed.files),
      folders: within(seed.folder, seed.folders),
    };
    const tools: TwinReport['tools'][number][] = [];
    for (const { name, inputSchema } of await readOnlyTools(session)) {
      const set = { name, inputSchema, recorded: [], fixtures: fixtures.get(name) ?? [], limit: 1 };
      const [chosen] = chooseArguments(set, { ...scene, knowledge: new Knowledge() });
      const args = parseJson(JSON.stringify(chosen?.args ?? {}));
      const call = async (place: string): Promise<string | undefined> =>
        failureOf(await session.ask('tools/call', { name: `${place}_${name}`, arguments: args }));
      if ((await call('plain')) !== undefined) continue;
      tools.push({ name, failure: await call('twin') });
    }
    return { tools };
  } finally {
    await endOpened();
    await rm(seed.folder, { recursive: true, force: true });
  }
}

function within(folder: string, paths: readonly string[]): readonly string[] {
  return paths.map((path) => join(folder, path));
}

async function fixturesIn(folder: string): Promise<ReadonlyMap<string, readonly JsonObject[]>> {
  if (!existsSync(folder) || !(await readdir(folder)).includes('assay-verify.json')) return new Map();
  const tools = at(parseJson(await readFile(join(folder, 'assay-verify.json'), 'utf8')), 'tools');
  if (!isJsonObject(tools)) return new Map();
  return new Map(
    Object.entries(tools).map(([name, tool]) => {
      const calls = isJsonObject(tool) && Array.isArray(tool['calls']) ? tool['calls'] : [];
      return [name, calls.filter(isJsonObject)];
    }),
  );
}

async function readOnlyTools(
  session: LegacySession,
): Promise<readonly { readonly name: string; readonly inputSchema: JsonObject }[]> {
  const found: { name: string; inputSchema: JsonObject }[] = [];
  let cursor: string | undefined;
  do {
    const page = at(await session.ask('tools/list', cursor === undefined ? {} : { cursor }), 'result');
    const { tools, nextCursor } = page as { tools: readonly JsonObject[]; nextCursor?: string };
    for (const { name, inputSchema, annotations } of tools)
      if (typeof name === 'string' && name.startsWith('plain_') && isJsonObject(inputSchema))
        if (isJsonObject(annotations) && annotations['readOnlyHint'] === true)
          found.push({ name: name.slice('plain_'.length), inputSchema });
    cursor = nextCursor;
  } while (cursor !== undefined);
  return found;
}

/** The error of a response. Undefined if the tool answered. */
function failureOf(response: Json): string | undefined {
  const error = at(response, 'error', 'message');
  if (typeof error === 'string') return error;
  return at(response, 'result', 'isError') === true ? textOf(response) : undefined;
}
