import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Wrench } from 'lucide-react';
import type { ReactNode } from 'react';
import { gatewaysQuery } from '../state/lists.ts';
import { FirstSteps } from './first-steps.tsx';
import { Empty, LoadingRows } from './states.tsx';

/** Shown if the catalog is empty: what to do next. */
export function NoTools(): ReactNode {
  const { data, isPending } = useQuery(gatewaysQuery);
  if (isPending) return <LoadingRows />;
  if (data?.length === 0) return <FirstSteps />;
  return (
    <Empty icon={<Wrench size={32} aria-hidden />} title="No tools yet">
      No server has listed a tool. <Link to="/servers">Servers</Link> shows their state.
    </Empty>
  );
}
