import { useQuery } from '@tanstack/react-query';
import { OctagonX } from 'lucide-react';
import type { ReactNode } from 'react';
import type { StopView } from '../../../gateway/src/api/stop.ts';
import { stopsQuery } from '../state/stops.ts';
import { HostileText } from './hostile-text.tsx';
import { StopControl } from './stop-control.tsx';

/** On every page while something is stopped. The stop of all calls can be ended here. */
export function StopBanner(): ReactNode {
  const { data: stops = [] } = useQuery(stopsQuery);
  if (stops.length === 0) return null;
  const isAll = stops.some(({ kind }) => kind === 'all_calls');
  const others = stops.filter(({ kind }) => kind !== 'all_calls');
  return (
    <div className="stop-banner" role="alert">
      <p>
        <OctagonX size={16} aria-hidden />
        <span>
          {isAll && <strong>All calls are stopped. </strong>}
          {others.length > 0 && (
            <>
              Stopped{isAll && ' as well'}: <HostileText text={formatNames(others)} />
            </>
          )}
        </span>
      </p>
      {isAll && <StopControl what={{ kind: 'all_calls' }} />}
    </div>
  );
}

const MAX_SHOWN = 5;

function formatNames(stops: readonly StopView[]): string {
  const names = stops.map(({ server = '', tool }) => tool ?? server);
  const more = names.length - MAX_SHOWN;
  return `${names.slice(0, MAX_SHOWN).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
