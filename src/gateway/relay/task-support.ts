import type { Era } from '../../protocol/eras.ts';
import { LEGACY_TASKS_VERSION } from '../../protocol/eras.ts';
import { TASKS_EXTENSION } from '../../protocol/tasks.ts';
import type { Capabilities } from '../ports/link.ts';
import type { TaskAccess } from '../ports/sealing.ts';
import type { Server } from '../catalog/server.ts';
import type { View } from '../catalog/view.ts';
import type { JsonObject } from '../../core/json-object.ts';

/** The servers of a view, and whether tasks are offered. */
export interface TaskOffer {
  readonly view: Pick<View, 'capable'>;
  readonly tasks: TaskAccess | undefined;
}

/** The era and revision of a client, which determine task support. */
export interface ClientForm {
  readonly era: Era;
  /** The revision that a legacy client negotiated. */
  readonly version?: string | undefined;
}

/** Whether the client's revision has tasks. */
export function knowsTasks({ era, version }: ClientForm): boolean {
  return era === 'modern' || version === LEGACY_TASKS_VERSION;
}

/** Whether a server creates tasks of an era. The tasks of the two eras share only their name. */
export function makesTasks({ era, capabilities }: Server, form: Era): boolean {
  return era === form && capabilities !== undefined && formOf(capabilities, form).makes;
}

export function listsTasks({ era, capabilities }: Server): boolean {
  return era === 'legacy' && capabilities !== undefined && formOf(capabilities, 'legacy').lists;
}

/** Whether tasks are offered to a client of this form. */
export function offersTasks(offer: TaskOffer, client: ClientForm): boolean {
  return Object.keys(computeTaskCapabilities(offer, client)).length > 0;
}

/** The capabilities that offer tasks to a client. Empty if no server could create one for it. */
export function computeTaskCapabilities({ view, tasks }: TaskOffer, client: ClientForm): JsonObject {
  if (tasks === undefined || !knowsTasks(client)) return {};
  const forms = view.capable.flatMap((server) => formsOf(server, client.era));
  if (!forms.some(({ makes }) => makes)) return {};
  if (client.era === 'modern') return { extensions: { [TASKS_EXTENSION]: {} } };
  return {
    tasks: {
      ...(tasks.isAlone && forms.some(({ lists }) => lists) ? { list: {} } : {}),
      ...(forms.some(({ cancels }) => cancels) ? { cancel: {} } : {}),
      requests: { tools: { call: {} } },
    },
  };
}

interface TaskForm {
  readonly makes: boolean;
  readonly cancels: boolean;
  readonly lists: boolean;
}

const ANY: TaskForm = { makes: true, cancels: true, lists: true };

/** A server that has never been ready may support any form. */
function formsOf({ era, capabilities }: Server, form: Era): readonly TaskForm[] {
  if (capabilities === undefined) return [ANY];
  return era === form ? [formOf(capabilities, form)] : [];
}

function formOf(capabilities: Capabilities, form: Era): TaskForm {
  if (form === 'modern') {
    const makes = memberOf(capabilities['extensions'], TASKS_EXTENSION) !== undefined;
    return { makes, cancels: makes, lists: false };
  }
  const tasks = capabilities['tasks'];
  const makes = memberOf(memberOf(memberOf(tasks, 'requests'), 'tools'), 'call') !== undefined;
  const has = (key: string): boolean => makes && memberOf(tasks, key) !== undefined;
  return { makes, cancels: has('cancel'), lists: has('list') };
}

/** Server capabilities are unvalidated. */
function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as JsonObject)[key] : undefined;
}
