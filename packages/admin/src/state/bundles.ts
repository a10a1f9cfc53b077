import type { Bundle, ImportInput, ImportPlan } from '../../../gateway/src/api/bundle.ts';
import { write } from './api.ts';

/** What the import would change or, with `apply`, has changed. */
export function importBundle(input: ImportInput): Promise<ImportPlan> {
  return write('POST', '/import', input);
}

/** Downloads a bundle whose secrets are sealed. */
export async function downloadSealed(passphrase: string): Promise<void> {
  const bundle = await write<Bundle>('POST', '/export', { passphrase });
  const text = `${JSON.stringify(bundle, null, 2)}\n`;
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = `assay-${bundle.exportedAt.slice(0, 10)}.json`;
  link.click();
  URL.revokeObjectURL(url);
}
