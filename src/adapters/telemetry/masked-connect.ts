import { mapTexts } from '../../core/cause.ts';
import { err } from '../../core/result.ts';
import type { Connect, LinkEvents } from '../../gateway/ports/link.ts';
import type { Telemetry } from '../../gateway/ports/telemetry.ts';

/**
 * Counts server starts, and masks secrets in the causes of failed starts and lost links. Causes quote the server and
 * are shown to clients, in lists and on health pages.
 */
export function maskedConnect(connect: Connect, { meter, mask }: Telemetry): Connect {
  return async (spec, opening) => {
    const { events } = opening;
    meter?.starting(spec.name);
    const heard: LinkEvents = {
      ...events,
      changed: (kind) => events.changed(kind),
      updated: (uri, note) => events.updated(uri, note),
      missed: () => events.missed(),
      drained: () => events.drained(),
      ended: (cause) => events.ended(mapTexts(cause, mask)),
    };
    const opened = await connect(spec, { ...opening, events: heard });
    return opened.ok ? opened : err(mapTexts(opened.error, mask));
  };
}
