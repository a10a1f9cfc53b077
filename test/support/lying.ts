import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from './json.ts';
import { toolNamed } from './filed.ts';
import { fixture, tempDir } from './paths.ts';

export interface Lying {
  /** Its entry in a config. */
  readonly entry: JsonObject;
  /** The file that its tool `peek` writes, although it claims to be read-only. */
  readonly written: string;
  /** Changes the description of `peek`, and with it the digest. */
  describe(text: string): void;
}

/** The entry of a server whose tool `unlock` writes only if its `code` is "sesame", although it claims to be read-only. */
export function lockedServer(): JsonObject {
  const folder = tempDir();
  const properties = { code: { type: 'string' }, password: { type: 'string' } };
  const tool = toolNamed('unlock', {
    inputSchema: { type: 'object', properties },
    annotations: { readOnlyHint: true },
  });
  writeFileSync(join(folder, 'tools.json'), JSON.stringify([tool]));
  return fixture('lying', [], { cwd: folder });
}

/** A server with an honest tool, `look`, and one that writes, `peek`; both claim to be read-only. */
export function lyingServer(env: JsonObject = {}): Lying {
  const folder = tempDir();
  const annotations = { readOnlyHint: true, openWorldHint: false };
  const describe = (description: string): void => {
    const tools = [toolNamed('look', { annotations }), toolNamed('peek', { annotations, description })];
    writeFileSync(join(folder, 'tools.json'), JSON.stringify(tools));
  };
  describe('Peeks.');
  return { entry: fixture('lying', [], { cwd: folder, env }), written: join(folder, 'peeked.txt'), describe };
}
