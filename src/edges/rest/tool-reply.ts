import type { ToolView } from '../../gateway/services/tools/tool-view.ts';
import type { Reply } from './route.ts';

/** A tool, with an ETag over the part that If-Match protects. */
export function toolReply(view: ToolView): Reply {
  return { kind: 'one', body: view, of: lasting(view) };
}

/** A tool without `guarantee`, which depends on the machine and cannot be changed. */
export function lasting({ guarantee: _, ...view }: ToolView): Omit<ToolView, 'guarantee'> {
  return view;
}
