import type { AdminClient } from './admin.ts';
import { until } from './endings.ts';
import { at, listAt, textAt, type Json, type JsonObject } from './json.ts';

export const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** One letter per hint, in order: `+` is true, `-` is false, `.` is absent. */
export function short(valueOf: (hint: (typeof HINTS)[number]) => Json | undefined): string {
  return HINTS.map((hint) => {
    const value = valueOf(hint);
    return value === undefined ? '.' : value === true ? '+' : value === false ? '-' : '?';
  }).join('');
}

/** All claims on each hint: `o+! d-` is a suspended override to true above a declared false. */
export function claimsIn(hints: Json | undefined): readonly string[] {
  return HINTS.map((hint) =>
    listAt(hints, hint, 'claims')
      .map((claim) => {
        const mark = at(claim, 'suspended') === undefined ? '' : '!';
        return `${textAt(claim, 'kind').slice(0, 1)}${at(claim, 'value') === true ? '+' : '-'}${mark}`;
      })
      .join(' '),
  );
}

/** All matching tools, by their names on their servers. */
export async function toolsOf(
  admin: Pick<AdminClient, 'get'>,
  query: string,
): Promise<ReadonlyMap<string, JsonObject>> {
  const answer = await admin.get(`/tools?limit=1000&${query}`);
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return new Map(
    listAt(answer.json(), 'tools').map((tool) => [textAt(tool, 'originalName'), tool as JsonObject]),
  );
}

/** The only tool of this name on this server. */
export async function toolIn(
  admin: Pick<AdminClient, 'get'>,
  server: string,
  name: string,
): Promise<JsonObject> {
  const tool = (await toolsOf(admin, `server=${encodeURIComponent(server)}`)).get(name);
  if (tool === undefined) throw new Error(`${server} has no tool ${name}`);
  return tool;
}

/** What was seen of a tool, once it contradicts its `readOnlyHint`. */
export function untilContradicted(
  admin: Pick<AdminClient, 'get'>,
  server: string,
  name: string,
): Promise<Json> {
  return until('the contradiction is stored', async () => {
    const { id } = await toolIn(admin, server, name);
    const tool = (await admin.get(`/tools/${String(id)}`)).json();
    const hint = at(tool, 'verification', 'hints', 'readOnlyHint');
    return at(hint, 'verdict') === 'contradicted' ? hint : undefined;
  });
}
