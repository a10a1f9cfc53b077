import { type Cause, mapTexts } from '../../core/cause.ts';
import { err } from '@assay-mcp/kit/result';
import type { Connect, LinkEvents } from '../../gateway/ports/link.ts';

/**
 * Masks secrets in the causes of failed starts and lost links. Causes quote the server and are shown to clients, in
 * lists and on health pages. `onCause` hears of each.
 */
export function maskConnect(
  connect: Connect,
  mask: (text: string) => string,
  onCause?: (server: string, cause: Cause) => void,
): Connect {
  return async (spec, opening) => {
    const { events } = opening;
    const maskedEvents: LinkEvents = {
      ...events,
      changed: (kind) => events.changed(kind),
      updated: (uri, note) => events.updated(uri, note),
      missed: () => events.missed(),
      drained: () => events.drained(),
      ended: (cause) => {
        onCause?.(spec.name, cause);
        events.ended(mapTexts(cause, mask));
      },
    };
    const opened = await connect(spec, { ...opening, events: maskedEvents });
    if (opened.ok) return opened;
    onCause?.(spec.name, opened.error);
    return err(mapTexts(opened.error, mask));
  };
}
