import { mkdtempSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { removeLater } from './endings.ts';
import { parseJson, textAt, numberAt, type Json, type JsonObject } from './json.ts';

export const ROOT: string = fileURLToPath(new URL('../../', import.meta.url));
/** The package `assay-mcp`. */
export const GATEWAY: string = join(ROOT, 'packages', 'gateway');
/** Code search as a program of its own. */
export const CODEBASE_MAIN: string = join(ROOT, 'packages', 'codebase', 'dist', 'main.js');
/** The program under test; ASSAY_TEST_MAIN selects another build. */
export const MAIN: string = process.env['ASSAY_TEST_MAIN'] ?? join(GATEWAY, 'dist', 'main.js');
/** The module with the program's exports. */
export const PROGRAM: string = join(dirname(MAIN), 'program.js');
export const IS_OTHER_BUILD: boolean = process.env['ASSAY_TEST_MAIN'] !== undefined;

/** A new directory, removed at the end of the test file. */
export function tempDir(): string {
  const path = mkdtempSync(join(tmpdir(), 'assay-test-'));
  // A process that is just ending may still create files in it.
  removeLater(() => rmSync(path, { recursive: true, force: true, maxRetries: 10 }));
  return path;
}

/** The config entry of a fixture, e.g. `fixture('plain', ['--label=a'])`. */
export function fixture(name: string, args: readonly string[] = [], more: JsonObject = {}): JsonObject {
  return {
    command: process.execPath,
    args: [join(ROOT, 'test', 'fixtures', `${name}.ts`), ...args],
    ...more,
  };
}

/** The config entry of an example server that `npm ci` installed. */
export function installed(name: string, args: readonly string[] = []): JsonObject {
  const script = join(ROOT, 'node_modules', '@modelcontextprotocol', `server-${name}`, 'dist', 'index.js');
  return { command: process.execPath, args: [script, ...args] };
}

export function writeConfig(servers: JsonObject, more: JsonObject = {}): string {
  return writeText(JSON.stringify({ mcpServers: servers, ...more }, null, 2));
}

export function writeText(text: string, name = 'mcp.json'): string {
  const path = join(tempDir(), name);
  writeFileSync(path, text);
  return path;
}

/** One entry that a fixture wrote to its FIXTURE_LOG. */
export interface Evidence {
  readonly kind: string;
  readonly pid: number;
  readonly atMs: number;
  readonly detail: string;
}

/** A file for FIXTURE_LOG, and its content so far. */
export interface EventLog {
  readonly env: JsonObject;
  read(kind?: string): readonly Evidence[];
  /** How often the fixture received this method. */
  countOf(method: string): number;
}

export function openEventLog(): EventLog {
  const path = join(tempDir(), 'evidence.jsonl');
  const read = (kind?: string): readonly Evidence[] =>
    (existsSync(path) ? readFileSync(path, 'utf8') : '')
      .split('\n')
      // Without the text after the last line end, which is empty or a line that is still being written.
      .slice(0, -1)
      .map((line) => evidenceOf(parseJson(line)))
      .filter((one) => kind === undefined || one.kind === kind);
  return {
    env: { FIXTURE_LOG: path },
    read,
    countOf: (method) =>
      read('message').filter((one) => one.detail.includes(`"method":${JSON.stringify(method)}`)).length,
  };
}

function evidenceOf(line: Json): Evidence {
  return {
    kind: textAt(line, 'kind'),
    pid: numberAt(line, 'pid'),
    atMs: numberAt(line, 'atMs'),
    detail: textAt(line, 'detail'),
  };
}
