import { join } from 'node:path';
import { mintToken, secretDigest } from './adapters/auth/mint-token.ts';
import type { Refusal } from './core/refusal.ts';
import { err, ok, type Result } from './core/result.ts';
import { sentenceOf } from './core/sentences.ts';
import { LOCAL } from './core/subject.ts';
import { parseToken, tokenState } from './core/token.ts';
import type { Log } from './gateway/ports/link.ts';
import type { Store, StoredToken } from './gateway/ports/store.ts';
import { createToken, revokeToken } from './gateway/services/tokens.ts';
import { readText, writeAtomically } from './platform/files.ts';

const NAME = 'admin';
/** How many names are tried; one may have been given to a token that may less, or has expired. */
const MOST_NAMES = 9;

/**
 * The path of the file in the home that holds a token for the REST API. It is made where no token of the store may
 * administer. Undefined: there is none, as whoever made the others knows them, or it cannot be made, which the log says.
 */
export async function ensureAdminToken(
  store: Store,
  { home, log }: { readonly home: string; readonly log: Log },
): Promise<string | undefined> {
  const path = join(home, 'admin-token');
  const made = await ensure(store, path);
  if (made.ok) return made.value ? path : undefined;
  log.warn('no token for the REST API could be made', { path, cause: sentenceOf(made.error) });
  return undefined;
}

/** Whether the file holds a token that may administer. */
async function ensure(store: Store, path: string): Promise<Result<boolean, Refusal>> {
  for (let count = 1; count <= MOST_NAMES; count += 1) {
    const tokens = await store.tokens();
    if (!tokens.ok) return tokens;
    const valid = tokens.value.filter(isAdmin);
    if (valid.length > 0) return ok(await holdsOne(path, valid));
    const name = count === 1 ? NAME : `${NAME}-${count}`;
    const made = await make(store, { path, name });
    // Another start may have come first: then there is one, and its file.
    if (made.ok || made.error.code !== 'TOKEN_NAME_TAKEN') return made;
  }
  return err({ code: 'TOKEN_NAME_TAKEN', name: NAME });
}

async function make(
  store: Store,
  { path, name }: { readonly path: string; readonly name: string },
): Promise<Result<boolean, Refusal>> {
  const nowMs = Date.now();
  const wish = { name, scopes: ['admin'], lifetimeMs: undefined } as const;
  const created = await createToken(wish, { store, mint: mintToken, nowMs, by: LOCAL.subject });
  if (!created.ok) return created;
  const { text, kept } = created.value;
  const written = await writeAtomically(path, `${text}\n`, 0o600);
  if (written.ok) return ok(true);
  // One that nobody can read would keep the next start from making one.
  await revokeToken(kept.id, { store, nowMs, by: LOCAL.subject });
  return err({ code: 'FILE_UNWRITABLE', path, reason: written.error.reason });
}

function isAdmin(token: StoredToken): boolean {
  return token.scopes.includes('admin') && tokenState(token, Date.now()) === 'valid';
}

async function holdsOne(path: string, tokens: readonly StoredToken[]): Promise<boolean> {
  const text = await readText(path);
  const parts = text.ok ? parseToken(text.value.trim()) : undefined;
  if (parts === undefined) return false;
  const hash = secretDigest(parts.secret).toString('hex');
  return tokens.some((token) => token.id === parts.id && token.hash === hash);
}
