import { openSync, readdirSync, readFileSync } from 'node:fs';

let covers: readonly ('ignore' | number)[] | undefined;

/**
 * Descriptors from 4 on: replaces each one that Assay inherited by `/dev/null`, since Node would pass it on to every
 * child. They do not change after startup.
 */
export function coverDescriptors(): readonly ('ignore' | number)[] {
  return (covers ??= coversOf(readdirSync('/proc/self/fdinfo').map(Number).filter(isInherited)));
}

function coversOf(inherited: readonly number[]): readonly ('ignore' | number)[] {
  if (inherited.length === 0) return [];
  const nothing = openSync('/dev/null', 'r+');
  return Array.from({ length: Math.max(...inherited) - 3 }, (_, index) =>
    inherited.includes(index + 4) ? nothing : 'ignore',
  );
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
    return descriptor > 3 && flags !== undefined && (parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false;
  }
}

/** O_CLOEXEC, on x86-64 and arm64. */
const CLOSE_ON_EXEC = 0o2000000;
