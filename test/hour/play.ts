import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type Call, overHttp, throughEntry } from './clients.ts';
import { entryIn, FAILING, newPerson, type Entry, type Person, type Surroundings } from './person.ts';
import { measureProcesses, type ProcessUse } from './processes.ts';
import { openTerminal, screenOf, tooWide, type Terminal } from './terminal.ts';

export interface Hour {
  readonly transcript: string;
  /** Deviations from the expected results. */
  readonly faults: readonly string[];
}

interface Place extends Omit<Surroundings, 'home' | 'remote'> {
  readonly temp: string;
}

const EVERYTHING = '@modelcontextprotocol/server-everything';
/** A selection of a few tools. */
const TWENTY: readonly string[] = [
  ...['create_entities', 'add_observations', 'search_nodes', 'read_graph'].map((name) => `memory.${name}`),
  ...['read_text_file', 'write_file', 'list_directory', 'search_files'].map((name) => `filesystem.${name}`),
  ...['search_issues', 'get_issue', 'add_issue_comment', 'list_commits'].map((name) => `github.${name}`),
  ...['get_pull_request', 'get_pull_request_files', 'create_pull_request_review'].map(
    (name) => `github.${name}`,
  ),
  ...['browser_navigate', 'browser_snapshot', 'browser_click'].map((name) => `playwright.${name}`),
  'sequential-thinking.sequentialthinking',
  'everything.echo',
];

export async function playHour({ temp, ...place }: Place): Promise<Hour> {
  const port = await freePort();
  const remote = `http://127.0.0.1:${port}/mcp`;
  const ada = newPerson({ ...place, remote, home: join(temp, 'ada') });
  const team = spawn('npx', ['-y', EVERYTHING, 'streamableHttp'], {
    cwd: ada.home,
    env: { ...ada.env, PORT: String(port) },
    stdio: 'ignore',
    detached: true,
  });
  const recorder = new Recorder();
  try {
    await answering(remote, team);
    await playCommands(recorder, ada);
    await playSetup(recorder, newPerson({ ...place, remote, home: join(temp, 'bob') }));
  } catch (error) {
    recorder.note(false, error instanceof Error ? error.message : String(error));
  } finally {
    // Its process group: `npx` does not always end what it started.
    if (team.pid !== undefined && team.exitCode === null) process.kill(-team.pid);
  }
  return recorder;
}

/** The steps of the README. */
async function playCommands(recorder: Recorder, person: Person): Promise<void> {
  const { cursor, claude } = person;
  const direct = await directTools(person);
  const ofCursor = toPublicNames(direct, Object.keys(cursor.servers));
  const ofClaude = toPublicNames(direct, Object.keys(claude.servers), WORK);
  const assay = (line: string, exit = 0, ...shows: readonly RegExp[]): Promise<string> =>
    recorder.step(person, `assay ${line}`.trim(), { exit, shows });

  await assay('', 0, /Claude Code has 5 servers:\s+assay import claude-code/, /Cursor has 7 servers/);
  await assay('serve', 3, /assay import cursor/);
  await assay('import cursor --dry-run', 0, /Dry run: 7 servers/);
  await assay('import cursor', 0, /7 servers, \d+ tools now/, /next: assay connect cursor/);
  await assay(
    'import claude-code',
    0,
    /github-claude-code/,
    /filesystem-claude-code/,
    /"cursor" stays equipped/,
    /connect claude-code --toolset claude-code/,
  );
  await assay('connect cursor', 0, /Cursor will see \d+ tools/);
  await assay('connect claude-code --toolset claude-code', 0, /Claude Code will see \d+ tools/);

  const inCursor = await throughEntry(entryIn(cursor.path, 'assay'), person, {
    call: look(person),
  });
  recorder.compare('Cursor, through its file', inCursor.tools, [...ofCursor, MODE]);
  recorder.note(inCursor.text.includes('2026-11-17.md'), 'a call through Cursor’s entry lists the folder');
  const inClaude = await throughEntry(entryIn(claude.path, 'assay'), person);
  recorder.compare('Claude Code, through its file', inClaude.tools, ofClaude);

  const port = await freePort();
  const serving = recorder.open(person, `assay serve --port ${port}`);
  await serving.until(/h for help/);
  serving.type('c');
  await serving.until(/Claude Desktop/);
  const url = `http://127.0.0.1:${port}/mcp`;
  await assay('status', 0, /endpoint\s+http/, /slack\s+(starting|failed|restarting)/);
  await assay('tools', 0, /memory_create_entities/);
  await assay('tools filesystem', 0, /filesystem_list_directory/);
  await assay(`call filesystem.list_directory '{"path":"${person.home}/notes"}'`, 0, /2026-11-17\.md/);
  const slow = '{"duration":3,"steps":3}';
  await assay(`call everything.trigger-long-running-operation '${slow}'`, 0, / … \d s/);
  await assay(`toolset create tuesday ${TWENTY.join(' ')} --equip`, 0, /with 20 tools/);
  await assay('toolset show tuesday');
  await assay('notes add tuesday github.search_issues labels "Use the label triage."', 0, /Added/);
  const trimmed = TWENTY.map((ref) => ref.replace('.', '_'));
  recorder.compare('Cursor, attached', (await throughEntry(entryIn(cursor.path, 'assay'), person)).tools, [
    ...trimmed,
    MODE,
  ]);
  const meanwhile = async (): Promise<void> => {
    await assay('status', 0, /tuesday 2\.0\.0/);
  };
  const modern = await overHttp(url, { call: look(person), meanwhile });
  recorder.compare('a client of /mcp', modern.tools, [...trimmed, MODE]);
  recorder.note(modern.text.includes('2026-11-17.md'), 'a call over HTTP lists the folder');
  const all = [...new Set([...ofCursor, ...ofClaude])];
  recorder.compare('a client of /mcp/all', (await overHttp(`${url}/all`)).tools, all);
  recorder.compare('a client of /mcp/search', (await overHttp(`${url}/search`)).tools, SEARCH);
  await assay('logs slack', 0, /SLACK_BOT_TOKEN/);
  await assay('doctor', 1, /slack: Down/, /SLACK_BOT_TOKEN/);
  serving.type('\u0003');
  await recorder.close(serving, 0);
  await assay('status', 0, /No gateway is running/);
  await assay('connect cursor --undo');
  await assay('connect claude-code --undo');
  recorder.restored(person);
}

/** `assay setup` for all three clients, with Enter at each question, and the way back. */
async function playSetup(recorder: Recorder, person: Person): Promise<void> {
  const { cursor, claude, code } = person;
  await withAll(Object.values(claude.servers), person, () => {
    recorder.say(`before: ${formatUse(measureProcesses(person.home))} for one client with its five servers`);
  });
  const setup = recorder.open(person, 'assay setup');
  let enters = 0;
  while (!(await setup.until(QUESTION_OR_END)).startsWith('To go back')) {
    setup.type('\n');
    enters += 1;
  }
  await recorder.close(setup, 0);
  recorder.note(enters <= 4, `setup took ${enters} Enters`);
  for (const { path } of [claude, cursor, code])
    // What cannot start stays in the client's file.
    recorder.note(
      listEntries(path)
        .filter((name) => name !== FAILING)
        .join() === 'assay',
      `${path} has ${listEntries(path).join()}`,
    );
  const entry = entryIn(claude.path, 'assay');
  const sayUse = (when: string) => async (): Promise<void> => {
    recorder.say(`after:  ${formatUse(measureProcesses(person.home))} for one client, ${when}`);
  };
  await throughEntry(entry, person, { meanwhile: sayUse('nothing called') });
  const seen = await throughEntry(entry, person, { call: ECHO, meanwhile: sayUse('after one call') });
  recorder.note(seen.text.includes('Echo: hello'), 'Claude Code calls a tool of a server that left its file');
  for (const command of ['hints everything_echo', 'review', 'status'])
    await recorder.time(person, `assay ${command}`);
  await recorder.step(person, 'assay uninstall --yes', { exit: 0, shows: [] });
  recorder.restored(person);
}

const QUESTION_OR_END = /\[Y\/n\] |\(Enter: [^)]*\) |To go back/;
/** The servers whose entries in Claude Code have another account or folder than in Cursor. */
const WORK: ReadonlySet<string> = new Set(['github', 'filesystem']);
const ECHO = { name: 'everything_echo', arguments: { message: 'hello' } };

function listEntries(path: string): readonly string[] {
  const { mcpServers, servers } = JSON.parse(readFileSync(path, 'utf8')) as Readonly<
    Record<string, object | undefined>
  >;
  return Object.keys(mcpServers ?? servers ?? {});
}

function formatUse({ processes, mebibytes }: ProcessUse): string {
  return `${processes} processes, ${mebibytes} MiB`;
}

/** Connects to all of the servers, as a client without Assay does, and calls `work`. */
async function withAll(entries: readonly Entry[], person: Person, work: () => void): Promise<void> {
  const [entry, ...others] = entries;
  if (entry === undefined) work();
  else await throughEntry(entry, person, { meanwhile: () => withAll(others, person, work) });
}

/** The names of the tools in Assay. `renamed`: servers that were imported under a name of their own. */
function toPublicNames(
  direct: ReadonlyMap<string, readonly string[]>,
  servers: readonly string[],
  renamed: ReadonlySet<string> = new Set(),
): readonly string[] {
  return servers.flatMap((server) =>
    (direct.get(server) ?? []).map((tool) => `${server}${renamed.has(server) ? '-claude-code' : ''}_${tool}`),
  );
}

const MODE = 'enter-configuration-mode';
/** Tools that `server-everything` lists only to clients that it may ask. */
const CONDITIONAL = /_(?:get-roots-list|trigger-(?:url-)?(?:elicitation|sampling)(?:-request)?)$/;
const SEARCH = ['search_tools', 'describe_tool', 'call_tool'];
const look = ({ home }: Person): Call => ({
  name: 'filesystem_list_directory',
  arguments: { path: join(home, 'notes') },
});

/** The tools of each server that starts. */
async function directTools(person: Person): Promise<ReadonlyMap<string, readonly string[]>> {
  const entries: Readonly<Record<string, Entry>> = { ...person.cursor.servers, ...person.claude.servers };
  const tools = new Map<string, readonly string[]>();
  for (const [name, entry] of Object.entries(entries))
    if (name !== FAILING) {
      const seen = await throughEntry(entry, person).catch((error: unknown) => {
        throw new Error(`${name} does not start: ${error instanceof Error ? error.message : String(error)}`);
      });
      tools.set(name, seen.tools);
    }
  return tools;
}

interface Expected {
  readonly exit: number;
  readonly shows: readonly RegExp[];
}

/** Runs the steps, and collects their output and problems. */
class Recorder implements Hour {
  readonly faults: string[] = [];
  transcript = '';
  readonly #lines = new Map<Terminal, string>();

  async step(person: Person, line: string, { exit, shows }: Expected): Promise<string> {
    const terminal = this.open(person, line);
    const text = await this.close(terminal, exit);
    const shown = `${terminal.output()}\n${text.replace(/\s+/g, ' ')}`;
    for (const pattern of shows)
      if (!pattern.test(shown)) this.#fault(`\`${line}\` does not show ${String(pattern)}`);
    return text;
  }

  open({ home, env }: Person, line: string): Terminal {
    const terminal = openTerminal(line, { cwd: home, env });
    this.#lines.set(terminal, line);
    return terminal;
  }

  async close(terminal: Terminal, exit: number): Promise<string> {
    const line = this.#lines.get(terminal) ?? '';
    const code = await terminal.ended();
    const text = screenOf(terminal.output()).join('\n');
    this.#write(`$ ${line}\n${text}`);
    if (code !== exit) this.#fault(`\`${line}\` exits with ${code}, not ${exit}`);
    for (const wide of tooWide(terminal.output())) this.#fault(`\`${line}\` prints a wide line: ${wide}`);
    return text;
  }

  note(isRight: boolean, what: string): void {
    if (!isRight) this.#fault(what);
  }

  say(text: string): void {
    this.#write(`# ${text}\n`);
  }

  /** Runs a command, and says how long it took. */
  async time(person: Person, line: string): Promise<void> {
    const startMs = performance.now();
    await this.step(person, line, { exit: 0, shows: [] });
    this.say(`\`${line}\` took ${Math.round(performance.now() - startMs)} ms`);
  }

  compare(who: string, seen: readonly string[], expected: readonly string[]): void {
    const missing = expected.filter((name) => !seen.includes(name));
    const added = seen.filter((name) => !expected.includes(name) && !CONDITIONAL.test(name));
    this.#write(`# ${who}: ${seen.length} tools\n`);
    if (missing.length > 0) this.#fault(`${who} misses ${missing.join(', ')}`);
    if (added.length > 0) this.#fault(`${who} sees ${added.join(', ')}, too`);
  }

  restored({ cursor, claude }: Person): void {
    for (const { path, text } of [cursor, claude])
      this.note(readFileSync(path, 'utf8') === text, `${path} is not restored byte for byte`);
  }

  #fault(what: string): void {
    this.faults.push(what);
    this.#write(`!! ${what}\n`);
  }

  #write(text: string): void {
    this.transcript += `${text}\n`;
    console.log(text);
  }
}

async function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** Waits until a server listens. */
async function answering(url: string, server: ChildProcess): Promise<void> {
  while (server.exitCode === null)
    try {
      await fetch(url);
      return;
    } catch {
      await new Promise((done) => setTimeout(done, 100));
    }
  throw new Error(`the server for ${url} ended with ${server.exitCode}`);
}
