import { EXIT } from '../../core/errors.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import type { AppOptions } from '../../core/command-options.ts';
import { printRefusal } from './output.ts';

/** Opens something, works with it and closes it. Prints refusals; resolves with the exit code. */
export async function withOpened<T extends { readonly close: () => Promise<void> }>(
  opening: Promise<Result<T, Refusal>>,
  work: (opened: T) => Promise<Result<unknown, Refusal>>,
): Promise<number> {
  const opened = await opening;
  if (!opened.ok) return printRefusal(opened.error);
  try {
    const done = await work(opened.value);
    return done.ok ? EXIT.done : printRefusal(done.error);
  } finally {
    await opened.value.close();
  }
}

export interface JsonOptions extends AppOptions {
  readonly json?: boolean;
}
