import { createNoticeSender } from '../adapters/notices/send-notice.ts';
import {
  type Notifier,
  NOTICE_SETTINGS,
  NOTICE_TOPICS,
  type NoticeTopic,
  parseNotifier,
} from '../core/notices.ts';
import type { Settings } from '../core/settings.ts';
import { listServerStatuses } from '../gateway/catalog/server-status.ts';
import type { Store } from '../gateway/ports/store.ts';
import { listSuspendedTools } from '../gateway/services/tools/review-counts.ts';
import { Notices } from '../gateway/services/notices.ts';
import type { ConfiguredCatalog } from './open-catalog.ts';

/** Where notices are sent, by topic. Faulty values were refused at the start. */
export function readNotifiers(settings: Settings): ReadonlyMap<NoticeTopic, Notifier> {
  return new Map(
    NOTICE_TOPICS.flatMap((topic) => {
      const parsed = parseNotifier(settings[NOTICE_SETTINGS[topic]]);
      return parsed.ok && parsed.value !== undefined ? [[topic, parsed.value] as const] : [];
    }),
  );
}

/** Tells operators what waits for them, until the gateway ends. */
export function openNotices(
  { settings, records, catalog, rules, approvals, environment }: ConfiguredCatalog,
  store: Store,
): Notices {
  const { telemetry, log, home, secrets, cleanup } = environment;
  const targets = readNotifiers(settings);
  secrets.add([...targets.values()].flatMap((one) => (one.kind === 'webhook' ? [one.url] : [])));
  const notices = new Notices({
    ...{ targets, store, log },
    listServers: () => listServerStatuses(catalog),
    listSuspended: () => listSuspendedTools(catalog),
    records: records.records,
    send: createNoticeSender({ rules, home }),
    pagesUrl: () => approvals.baseUrl,
    mask: telemetry.mask,
    nowMs: () => Date.now(),
  });
  notices.start();
  cleanup.defer(() => notices.close());
  return notices;
}
