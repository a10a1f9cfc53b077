import { at, textAt, type Json, type JsonObject } from './json.ts';
import { textOf } from './legacy.ts';
import { modernAsk, type ModernAsk } from './modern.ts';

export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';
export const RELATED_TASK = 'io.modelcontextprotocol/related-task';

/** Anything that can send requests: a session, a pipe, or a modern client. */
export interface Asker {
  ask(method: string, params?: JsonObject): Promise<Json>;
}

/** A modern client that declares the tasks extension with each request. */
export function modernTasksClient(url: string, more: Pick<ModernAsk, 'headers'> = {}): Asker {
  const meta = {
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions: { [TASKS_EXTENSION]: {} } },
  };
  return {
    ask: (method, params = {}) => {
      const { taskId } = params;
      const headers = { ...more.headers, ...(typeof taskId === 'string' ? { 'mcp-name': taskId } : {}) };
      return modernAsk(url, method, { params, meta, headers });
    },
  };
}

/** Calls a tool as a task (2025-11-25); returns the id that the client gets. */
export async function begin(client: Asker, name: string, params: JsonObject = {}): Promise<string> {
  const answer = await client.ask('tools/call', { name, arguments: {}, task: { ttl: 1000 }, ...params });
  return textAt(answer, 'result', 'task', 'taskId');
}

export async function statusOf(client: Asker, taskId: string): Promise<string> {
  return textAt(await client.ask('tasks/get', { taskId }), 'result', 'status');
}

export async function resultOf(client: Asker, taskId: string): Promise<string> {
  return textOf(await client.ask('tasks/result', { taskId }));
}

/** Assay's own code of an error, or else the entire response. */
export function codeOf(answer: Json): string {
  const code = at(answer, 'error', 'data', 'code');
  return typeof code === 'string' ? code : JSON.stringify(answer);
}
