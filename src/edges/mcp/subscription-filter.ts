import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { ListKind } from '../../gateway/ports.ts';
import { TASKS_MISSING } from '../../gateway/task-requests.ts';
import type { RequestMessage } from '../../protocol/message.ts';
import { declaresTasks } from '../../protocol/tasks.ts';
import { ownFault } from './own-fault.ts';

type ListField = 'toolsListChanged' | 'promptsListChanged' | 'resourcesListChanged';

/** Of what a modern client wants to be told. */
export interface Filter {
  readonly lists: Partial<Readonly<Record<ListField, true>>>;
  /** Each once. */
  readonly uris: readonly string[];
}

export const LIST_FIELDS: Readonly<Record<ListKind, ListField>> = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
  resourceTemplates: 'resourcesListChanged',
};

/** The filter of a `subscriptions/listen` (2026-07-28, basic/patterns/subscriptions#notification-filter). */
export function filterOf(message: RequestMessage): Result<Filter, Refusal> {
  const { bytes, params } = message;
  const fault = ownFault(message);
  if (fault !== undefined) return err(fault);
  const given = (
    JSON.parse(bytes.toString('utf8', params?.start ?? 0, params?.end ?? 0) || '{}') as {
      notifications?: unknown;
    }
  ).notifications;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return err({ code: 'PARAMS_INVALID', field: 'params.notifications', reason: 'it must be an object' });
  const wishes = given as Readonly<Record<string, unknown>>;
  if (wishes['taskIds'] !== undefined && !declaresTasks(message)) return err(TASKS_MISSING);
  const lists: Partial<Record<ListField, true>> = {};
  for (const field of new Set(Object.values(LIST_FIELDS))) {
    const wish = wishes[field];
    if (wish !== undefined && typeof wish !== 'boolean') return wrong(field, 'it must be true or false');
    if (wish === true) lists[field] = true;
  }
  const uris = wishes['resourceSubscriptions'] ?? [];
  return isTexts(uris)
    ? ok({ lists, uris: [...new Set(uris)] })
    : wrong('resourceSubscriptions', 'it must be a list of URIs');
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function wrong(field: string, reason: string): Result<never, Refusal> {
  return err({ code: 'PARAMS_INVALID', field: `params.notifications.${field}`, reason });
}
