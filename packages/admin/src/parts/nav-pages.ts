import { Activity, CircleCheckBig, Gauge, Layers, Server, Settings, Wrench } from 'lucide-react';

/** The pages in the order of the side bar; the key of each is its position, from 1. */
export const NAV_PAGES = [
  { to: '/', label: 'Overview', Icon: Gauge },
  { to: '/approvals', label: 'Approvals', Icon: CircleCheckBig },
  { to: '/tools', label: 'Tools', Icon: Wrench },
  { to: '/toolsets', label: 'Toolsets', Icon: Layers },
  { to: '/servers', label: 'Servers', Icon: Server },
  { to: '/activity', label: 'Activity', Icon: Activity },
  { to: '/settings', label: 'Settings', Icon: Settings },
] as const;
