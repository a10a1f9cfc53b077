import type { ToolView } from '../../gateway/services/tools/tool-view.ts';
import type { Reply } from './route.ts';

/** A tool with the ETag of what If-Match protects. */
export function toolReply(view: ToolView): Reply {
  return { kind: 'one', body: view, of: lasting(view) };
}

/** A tool without what the machine can enforce, which is no part of what is changed. */
export function lasting({ guarantee: _, ...view }: ToolView): Omit<ToolView, 'guarantee'> {
  return view;
}
