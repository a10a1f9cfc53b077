import { EXIT } from '../../core/errors.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import { complain } from './complain.ts';

/** Works with what is opened, closes it, and gives the exit code; what was refused is told. */
export async function withOpened<T extends { readonly close: () => Promise<void> }>(
  opening: Promise<Result<T, Refusal>>,
  work: (opened: T) => Promise<Result<unknown, Refusal>>,
): Promise<number> {
  const opened = await opening;
  if (!opened.ok) return complain(opened.error);
  try {
    const done = await work(opened.value);
    return done.ok ? EXIT.done : complain(done.error);
  } finally {
    await opened.value.close();
  }
}
