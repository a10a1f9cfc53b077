import type { Refusal } from '../../core/refusal.ts';
import { pathFaultOf } from '../../platform/path-safety.ts';

/** PATH_UNSAFE where others could change what is at a path; undefined too where ASSAY_FILE_CHECKS is off. */
export async function unsafePath(
  path: string,
  { env, home }: { readonly env: Readonly<Record<string, string | undefined>>; readonly home: string },
): Promise<Extract<Refusal, { code: 'PATH_UNSAFE' }> | undefined> {
  if (env['ASSAY_FILE_CHECKS'] === 'off') return undefined;
  const fault = await pathFaultOf(path, home);
  return fault && { code: 'PATH_UNSAFE', path, ...fault };
}
