import { runAssay } from './assay.ts';

/** Makes a token as its users do, and gives what `$(assay token create …)` would be. */
export async function createToken(home: string, name: string, ...more: readonly string[]): Promise<string> {
  const run = await runAssay(['token', 'create', name, '--home', home, ...more]);
  if (run.code !== 0) throw new Error(`assay token create: ${run.code} ${run.stderr}`);
  return run.stdout.trim();
}

export async function revokeToken(home: string, what: string): Promise<void> {
  const run = await runAssay(['token', 'revoke', what, '--home', home]);
  if (run.code !== 0) throw new Error(`assay token revoke: ${run.code} ${run.stderr}`);
}

export function bearer(token: string): { readonly authorization: string } {
  return { authorization: `Bearer ${token}` };
}

/** Another token behind the id of this one. */
export function forged(token: string): string {
  return token.slice(0, -43) + 'x'.repeat(43);
}
