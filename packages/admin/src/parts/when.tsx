import { useEffect, useState, type ReactNode } from 'react';

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

function relative(ms: number): string {
  for (const [unit, unitMs] of UNITS)
    if (Math.abs(ms) >= unitMs) return RELATIVE.format(Math.trunc(ms / unitMs), unit);
  return ms < 0 ? 'just now' : RELATIVE.format(Math.round(ms / 1_000), 'second');
}

/** The current time, updated every few seconds. */
export function useNow(everyMs = 10_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

/** A relative time, with the exact one on hover. */
export function When({ at }: { readonly at: string }): ReactNode {
  const now = useNow();
  const ms = Date.parse(at);
  if (Number.isNaN(ms)) return null;
  return (
    <time dateTime={at} title={EXACT.format(ms)}>
      {relative(ms - now)}
    </time>
  );
}
