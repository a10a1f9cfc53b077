import type { ReactNode } from 'react';
import type { CallCounts } from '../../../gateway/src/api/call.ts';

const WIDTH = 960;
const HEIGHT = 96;
const TIME = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

/** Bars of calls, with failed ones hatched at the bottom, so that colour is not the only cue. */
export function CallChart({ counts }: { readonly counts: CallCounts }): ReactNode {
  const { slots, since, slotMs } = counts;
  const most = Math.max(1, ...slots.map(({ calls }) => calls));
  const step = WIDTH / slots.length;
  const startMs = Date.parse(since);
  const timeOf = (slot: number): string => TIME.format(startMs + slot * slotMs);
  return (
    <figure className="chart">
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={formatCallCounts(counts)}
      >
        <defs>
          <pattern
            id="failed"
            width="6"
            height="6"
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <rect className="failed-ground" width="6" height="6" />
            <rect className="failed-line" width="3" height="6" />
          </pattern>
        </defs>
        {slots.map(({ calls, errors, refused }, at) => {
          const bad = errors + refused;
          const height = (calls / most) * (HEIGHT - 4);
          const badHeight = (bad / most) * (HEIGHT - 4);
          return (
            <g key={at}>
              <title>{`${timeOf(at)}: ${calls} calls, ${errors} errors, ${refused} refused`}</title>
              <rect className="slot" x={at * step} y={0} width={step} height={HEIGHT} />
              <rect
                className="calls"
                x={at * step + 1}
                y={HEIGHT - height}
                width={step - 2}
                height={height}
              />
              <rect
                className="bad"
                x={at * step + 1}
                y={HEIGHT - badHeight}
                width={step - 2}
                height={badHeight}
              />
            </g>
          );
        })}
      </svg>
      <figcaption>
        <span>{timeOf(0)}</span>
        <span className="legend">
          <i className="key-calls" aria-hidden /> calls
          <i className="key-bad" aria-hidden /> errors and refusals
        </span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}

/** The content of the chart as text. */
export function formatCallCounts({ slots, slotMs }: CallCounts): string {
  const sum = (of: 'calls' | 'errors' | 'refused'): number =>
    slots.reduce((total, slot) => total + slot[of], 0);
  const hours = Math.round((slots.length * slotMs) / 3_600_000);
  const number = (value: number): string => value.toLocaleString('en');
  return `In the last ${hours} hours: ${number(sum('calls'))} calls, ${number(sum('errors'))} errors, ${number(sum('refused'))} refused.`;
}
