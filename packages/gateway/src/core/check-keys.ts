import type { Finding } from './finding.ts';
import type { Refusal } from './refusal.ts';
import { formatRefusal } from './sentences.ts';

export interface KeyReport {
  /** KEY_UNUSABLE or KEY_DIFFERS */
  readonly fault: Refusal | undefined;
  /** Number of usable keys. */
  readonly count: number;
  /** Where the newest one was read. */
  readonly place: string | undefined;
  /** Whether keys for what clients carry are in the store, because homes that share it may have different keys. */
  readonly areStored: boolean;
}

/** Checks whether the encryption keys can be used and belong to the store. */
export function checkKeys({ fault, count, place, areStored }: KeyReport): readonly Finding[] {
  if (fault !== undefined)
    return [
      {
        check: 'disk',
        level: 'problem',
        about: 'encryption key',
        code: fault.code,
        message: formatRefusal(fault),
        remedy:
          fault.code === 'KEY_DIFFERS'
            ? 'See "Encryption keys" in docs/RUNBOOK.md.'
            : 'Correct the file or the variable.',
      },
    ];
  const stored: readonly Finding[] = areStored
    ? [
        {
          check: 'disk',
          level: 'note',
          about: 'encryption key',
          message:
            'Keys for what clients carry are in the database, so a copy of it is enough to open and forge that.',
          remedy: 'Give all processes on this database the same ASSAY_KEY_FILE.',
        },
      ]
    : [];
  if (count === 0 || place === undefined) return stored;
  const message = count === 1 ? 'It can be used.' : `It can be used, and ${count - 1} older ones decrypt.`;
  return [{ check: 'disk', level: 'ok', about: place, message }, ...stored];
}
