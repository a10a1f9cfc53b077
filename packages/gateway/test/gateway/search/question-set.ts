// Questions over the definitions of real servers, collected by `bench/search/collect.ts`.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../../../../test/support/paths.ts';
import type { JsonObject } from '../../../../../test/support/json.ts';
import { buildWordSearch } from '../../../src/adapters/search/word-search.ts';
import { Listing } from '../../../src/gateway/catalog/listing.ts';
import { getToolSearch } from '../../../src/gateway/services/tools/tool-search.ts';
import { getEntryName, ToolIndex } from '../../../src/gateway/services/toolsets/tool-index.ts';
import { definition, listed } from '../listed-server.ts';

export interface Question {
  /**
   * `plain`: in the words of the trade. `loose`: as people say it. `later`: loose too, written when the synonyms were
   * complete, so that it tells how well they fit questions that their author did not know. `more`: further loose ones for
   * tuning. `idioms`: written after that tuning for tools drawn by lot, mostly in turns of phrase.
   */
  readonly words: 'plain' | 'loose' | 'later' | 'more' | 'idioms';
  readonly query: string;
  /** The right tools: one of them is to be found. */
  readonly tools: readonly string[];
}

interface CollectedServer {
  readonly server: string;
  readonly tools: readonly (JsonObject & { readonly name: string })[];
}

/** Half of the plain and of the loose ones is for tuning. Search must not be fitted to the others. */
export type Part = 'tuning' | 'held out';

export function selectQuestions(words: Question['words'], part: Part): readonly Question[] {
  const ordered = (readSet('questions.json') as readonly Question[])
    .filter((question) => question.words === words)
    .sort((one, other) => (place(one) < place(other) ? -1 : 1));
  const middle = MIDDLES[words] * ordered.length;
  return part === 'tuning' ? ordered.slice(0, middle) : ordered.slice(middle);
}

/** Which share is for tuning. */
const MIDDLES = { plain: 0.5, loose: 0.5, later: 0, more: 1, idioms: 0 } as const;
const SEED = 'assay search 1';

function place({ query }: Question): string {
  return createHash('sha256').update(`${SEED}\n${query}`).digest('hex');
}

/** A list with all tools of the set. */
export function listCollected(): Listing {
  const servers = readSet('definitions.json') as readonly CollectedServer[];
  const entries = servers.flatMap(({ server: name, tools }) => {
    const server = listed(name);
    return tools.map((tool) => ({
      key: `${name}_${tool.name}`,
      name: tool.name,
      server,
      definition: definition('tools', tool),
    }));
  });
  return new Listing({ kind: 'tools', entries });
}

/** The search over all tools of the set. It returns namespaced names. */
export async function openCollected(): Promise<(query: string) => readonly string[]> {
  const search = await getToolSearch(new ToolIndex(listCollected()), buildWordSearch);
  return (query) => search(query).map(getEntryName);
}

/** How many of the questions have a right tool first, and those that have none within the limit. */
export function measure(
  search: (query: string) => readonly string[],
  questions: readonly Question[],
  limit: number,
): { readonly first: number; readonly found: number; readonly missed: readonly Question[] } {
  const places = questions.map(({ query, tools }) => search(query).findIndex((name) => tools.includes(name)));
  const isMissed = (place = -1): boolean => place < 0 || place >= limit;
  const missed = questions.filter((_, at) => isMissed(places[at]));
  return {
    first: places.filter((place) => place === 0).length,
    found: questions.length - missed.length,
    missed,
  };
}

function readSet(file: string): unknown {
  return JSON.parse(readFileSync(join(ROOT, 'bench', 'search', file), 'utf8'));
}
