import { mintToken } from '../../packages/gateway/src/adapters/auth/mint-token.ts';
import {
  createToken as create,
  type TokenRequest,
} from '../../packages/gateway/src/gateway/services/tokens.ts';
import { runAssay } from './commands.ts';
import { tryStore, valueOf } from './store-values.ts';

/** Creates a token as users do and returns the output of `assay token create`. */
export async function createToken(home: string, name: string, ...more: readonly string[]): Promise<string> {
  const run = await runAssay(['token', 'create', name, '--home', home, ...more]);
  if (run.code !== 0) throw new Error(`assay token create: ${run.code} ${run.stderr}`);
  return run.stdout.trim();
}

export async function revokeToken(home: string, what: string): Promise<void> {
  const run = await runAssay(['token', 'revoke', what, '--home', home]);
  if (run.code !== 0) throw new Error(`assay token revoke: ${run.code} ${run.stderr}`);
}

/** The same without a process, for tests of what a token permits. */
export async function keepToken(
  home: string,
  name: string,
  {
    scopes = ['mcp'],
    lifetimeMs,
    databaseUrl,
  }: Partial<TokenRequest> & { readonly databaseUrl?: string | undefined } = {},
): Promise<string> {
  const store = valueOf(await tryStore({ home, databaseUrl }));
  const created = await create(
    { name, scopes, lifetimeMs },
    { store, mint: mintToken, nowMs: Date.now(), by: 'local' },
  );
  await store.close();
  return valueOf(created).token;
}

export function bearer(token: string): { readonly authorization: string } {
  return { authorization: `Bearer ${token}` };
}

/** A forged token with the id of this one. */
export function forged(token: string): string {
  return token.slice(0, -43) + 'x'.repeat(43);
}
