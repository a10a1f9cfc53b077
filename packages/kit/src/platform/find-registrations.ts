import { readdir } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { SourceLine } from '../sarif-log.ts';
import { readTextWithin } from './bounded-file.ts';
import { inspectPath } from './machine.ts';

/** What one search may read. */
const MAX_ENTRIES = 20_000;
const MAX_FILES = 2_000;
const MAX_FILE_BYTES = 512 * 1024;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_NAMES = 200;

const SOURCE = /\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|cs|rb|php|swift|ex|dart)$/;
const NOT_SOURCES = /^(?:\..*|node_modules|dist|build|out|coverage|vendor|target|venv|__pycache__)$/;
const TEST = /(?:^|[/._-])(?:tests?|spec|specs|__tests__|fixtures?|mocks?|examples?)(?:[/._-]|$)/i;

/**
 * Looks for the lines of a project where tools are registered, by their names: first below `folder`, then in the rest of
 * its repository. Files are relative to the repository. A tool that is not found has no entry.
 */
export async function findRegistrations(
  folder: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, SourceLine>> {
  const repository = await findRepository(folder);
  const found = new Map<string, Candidate>();
  const budget = { entries: MAX_ENTRIES, files: MAX_FILES, bytes: MAX_BYTES };
  const wanted = new Set(names.filter((name) => name !== '').slice(0, MAX_NAMES));
  await search(folder, { repository, wanted, found, budget });
  const missing = new Set([...wanted].filter((name) => !found.has(name)));
  if (missing.size > 0 && repository !== folder)
    await search(repository, { repository, wanted: missing, found, budget });
  return new Map([...found].map(([name, { file, line }]) => [name, { file, line }]));
}

/** The folder around this one that has a `.git`, or this one. */
export async function findRepository(folder: string): Promise<string> {
  for (let at = folder; at !== dirname(at); at = dirname(at))
    if ((await inspectPath(join(at, '.git'))) !== undefined) return at;
  return folder;
}

/** The first of these files in a folder, relative to its repository: a place for what has no line. */
export async function findFile(folder: string, names: readonly string[]): Promise<string | undefined> {
  for (const name of names)
    if ((await inspectPath(join(folder, name)))?.is === 'file')
      return toSlashes(relative(await findRepository(folder), join(folder, name)));
  return undefined;
}

interface Candidate extends SourceLine {
  readonly score: number;
}

interface Search {
  readonly repository: string;
  readonly wanted: ReadonlySet<string>;
  readonly found: Map<string, Candidate>;
  readonly budget: { entries: number; files: number; bytes: number };
}

/** Upper folders first. Links are not followed. */
async function search(start: string, { repository, wanted, found, budget }: Search): Promise<void> {
  const waiting = [start];
  for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      budget.entries -= 1;
      if (budget.entries < 0 || budget.files <= 0 || budget.bytes <= 0) return;
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !NOT_SOURCES.test(entry.name)) waiting.push(path);
      if (!entry.isFile() || !SOURCE.test(entry.name)) continue;
      budget.files -= 1;
      const text = await readTextWithin(path, MAX_FILE_BYTES);
      if (!text.ok) continue;
      budget.bytes -= text.value.length;
      const file = toSlashes(relative(repository, path));
      for (const name of wanted) keepBest(found, name, locate(text.value, name, file));
    }
  }
}

function keepBest(found: Map<string, Candidate>, name: string, candidate: Candidate | undefined): void {
  if (candidate !== undefined && candidate.score > (found.get(name)?.score ?? 0)) found.set(name, candidate);
}

const MAX_BEFORE = 200;
const MAX_HITS = 100;
/** `registerTool(`, `server.tool(`, `Tool(name=`, `NewTool(`: the name is what is registered. */
const REGISTERS = /tool\w*\s*\(\s*\{?\s*(?:\w+\s*,\s*)?(?:["']?name["']?\s*[:=]\s*)?$/i;
const NAMES = /\bname["']?\s*[:=]\s*$/i;
const COMPARES = /(?:case|[!=]==?)\s*\(?\s*$/;
/** A decorator, attribute or annotation above a function: `@mcp.tool()`, `#[tool]`. */
const DECORATES = /[@[]\s*[\w.:]*tool\b[^\n]*\n(?:[^\n]*\n){0,4}?\s*(?:pub\s+)?(?:async\s+)?(?:def|fn)\s+$/i;

/** The likeliest registration of a tool in one file. */
function locate(text: string, name: string, file: string): Candidate | undefined {
  let best: { readonly at: number; readonly score: number } | undefined;
  let from = text.indexOf(name);
  for (let hits = 0; from >= 0 && hits < MAX_HITS; hits += 1) {
    const score = scoreOf(text, from, name.length);
    if (score > (best?.score ?? 0)) best = { at: from, score };
    from = text.indexOf(name, from + Math.max(name.length, 1));
  }
  if (best === undefined) return undefined;
  const line = text.slice(0, best.at).split('\n').length;
  return { file, line, score: TEST.test(file) ? best.score / 10 : best.score };
}

function scoreOf(text: string, at: number, length: number): number {
  const [opening = '', closing = ''] = [text[at - 1], text[at + length]];
  const isQuoted = opening === closing && /["'`]/.test(opening);
  const before = text.slice(Math.max(0, at - MAX_BEFORE), isQuoted ? at - 1 : at);
  if (!isQuoted) return /[\s(<]/.test(closing) && DECORATES.test(before) ? 4 : 0;
  if (REGISTERS.test(before)) return 5;
  if (NAMES.test(before)) return 3;
  return COMPARES.test(before) ? 0 : 1;
}

function toSlashes(path: string): string {
  return path.split(sep).join('/');
}
