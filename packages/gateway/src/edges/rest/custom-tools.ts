import { withoutUndefined } from '@assay-mcp/kit/json-object';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ConfigEntry } from '../../gateway/ports/config-entries.ts';
import { REQUEST_FIELDS, type Tool, TOOL, TOOL_CREATE } from '../../api/tool.ts';
import type { AdminDeps } from './admin-deps.ts';
import type { Failure } from './failure.ts';
import { route, type RestCall, type Reply, type Route } from './route.ts';
import { omitGuarantee, toToolReply } from './tool-reply.ts';

type RequestFields = Readonly<Partial<Record<keyof typeof REQUEST_FIELDS, unknown>>>;

type CustomToolDeps = Pick<AdminDeps, 'tools' | 'customTools'>;

/** Routes for tools that operators make from HTTP requests. */
export function customToolRoutes(deps: CustomToolDeps): readonly Route[] {
  return [createRoute(deps), deleteRoute(deps)];
}

function createRoute({ customTools }: CustomToolDeps): Route {
  return route(
    {
      method: 'post',
      path: '/tools',
      id: 'createTool',
      summary: 'Create a tool that sends an HTTP request',
      about:
        'The annotations given here are the tool’s declared hints; omitted ones are inferred from the method. Without a method, POST is assumed, the response has `methodOrigin: "default"`, and no hints are inferred, so the tool counts as destructive.',
      body: {
        schema: TOOL_CREATE,
        examples: {
          'read-only': {
            name: 'file-reader',
            url: 'http://example.com/api/read-file',
            description: 'Safely reads file contents',
            annotations: {
              readOnlyHint: true,
              destructiveHint: false,
              idempotentHint: true,
              openWorldHint: false,
            },
          },
          'path-and-key': {
            name: 'get-user',
            url: 'https://api.example.com/users/{id}',
            method: 'GET',
            auth: { type: 'bearer', token: '…' },
            filter: '{name, mail: contact.mail}',
          },
        },
      },
      answer: { status: 201, about: 'The tool.', schema: TOOL },
      refusals: ['TOOL_EXISTS', 'TOOL_INVALID', 'HINTS_CONTRADICT', 'KEY_UNUSABLE'],
    },
    async (call) => {
      const { name, ...fields } = call.body;
      const given = Object.entries(withoutUndefined(fields)).filter(([, value]) => value !== null);
      const created = await customTools.create(name, Object.fromEntries(given), {
        subject: call.identity.subject,
      });
      return created.ok ? ok(toToolReply(created.value, call.identity)) : toToolFailure(call, created.error);
    },
  );
}

function deleteRoute({ customTools, tools }: CustomToolDeps): Route {
  return route(
    {
      method: 'delete',
      path: '/tools/{id}',
      id: 'deleteTool',
      summary: 'Delete a custom tool',
      about:
        'Its overrides and notes are deleted too. Tools of a gateway or of the config file must be removed where they are defined.',
      isConditional: true,
      answer: { status: 204, about: 'Deleted.' },
      refusals: ['TOOL_UNKNOWN', 'TOOL_READ_ONLY'],
    },
    async (call) => {
      const found = await tools.find(call.param('id'));
      // A tool that is currently unusable is not listed; its id or name removes it.
      const id = found.ok ? found.value.id : customTools.idOf(call.param('id'));
      const changer = {
        subject: call.identity.subject,
        objection: (view: Tool) => call.unmet(omitGuarantee(view)),
      };
      const removed = await customTools.remove(id, changer);
      if (removed.ok) return ok({ kind: 'none' });
      return removed.error.code === 'TOOL_UNKNOWN' && !found.ok ? found : removed;
    },
  );
}

/** The entry's fields. Undefined if the body does not change the request. */
export function pickRequestFields(body: RequestFields): ConfigEntry | undefined {
  const fields = Object.keys(REQUEST_FIELDS) as readonly (keyof RequestFields)[]; // Its own keys.
  const given = Object.fromEntries(
    fields.filter((field) => body[field] !== undefined).map((field) => [field, body[field]]),
  );
  return Object.keys(given).length === 0 ? undefined : given;
}

type RequestCall = RestCall<unknown, RequestFields>;

/** Reports each fault of an entry at its field in the body. */
export function toToolFailure(call: RequestCall, failure: Failure): Result<Reply, Failure> {
  if ('code' in failure && failure.code === 'HINTS_CONTRADICT')
    return err({ refusal: failure, pointer: call.pointerTo('annotations') });
  if (!('code' in failure) || failure.code !== 'TOOL_INVALID') return err(failure);
  const fieldErrors = failure.faults.map(({ field, reason }) => ({
    at: call.pointerTo(...(field === '' ? 'name' : field).split('.')),
    kind: 'invalid' as const,
    reason: reason.replace(/\.$/, ''),
  }));
  return err({ code: 'BODY_INVALID', fieldErrors });
}
