import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Guide } from '../edges/cli/runtime.ts';

/** The guides of docs/, beside the program in its package. */
const FOLDER = join(import.meta.dirname, 'docs');

/** Sorted by topic. */
export function readGuides(): readonly Guide[] {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.md'));
  return files.sort().map((name) => {
    const path = join(FOLDER, name);
    const text = readFileSync(path, 'utf8');
    const [, title = name] = /^# (.+)$/m.exec(text) ?? [];
    return { topic: name.slice(0, -'.md'.length).toLowerCase(), title, path, text };
  });
}
