import {
  fromJsonSchema,
  inputRequired,
  inputResponse,
  type CallToolResult,
  type InputRequest,
  type InputRequiredResult,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { CHOICES, DEFAULTS, PERSON, type Form } from './forms.ts';

/**
 * Tools that ask their client something: a request of the server in the middle of the call in the legacy era,
 * `input_required` in the modern one.
 */
export function offerAskingTools(server: McpServer): void {
  server.registerTool(
    'test_sampling',
    { description: 'Has the client’s model say something.', inputSchema: textSchema('prompt') },
    ({ prompt = '' }, context) =>
      asking(context, inputRequired.createMessage(messageOf(prompt, 100)), ({ kind, ...view }) =>
        kind === 'missing' ? undefined : `LLM response: ${JSON.stringify(view)}`,
      ),
  );
  server.registerTool(
    'test_elicitation',
    { description: 'Asks for name and address.', inputSchema: textSchema('message') },
    ({ message = '' }, context) => asking(context, formOf(message, PERSON), said('User response: ')),
  );
  offerForm(server, 'test_elicitation_sep1034_defaults', DEFAULTS);
  offerForm(server, 'test_elicitation_sep1330_enums', CHOICES);
  server.registerTool(
    'test_streaming_elicitation',
    { description: 'Asks for a name, on the stream of its call.' },
    (context) => asking(context, formOf('Who are you?', PERSON), said('User response: ')),
  );
  server.registerTool(
    'test_missing_capability',
    { description: 'Works only with a client that can sample.' },
    (context) =>
      asking(context, inputRequired.createMessage(messageOf('Say something.', 10)), said('LLM response: ')),
  );
}

export function messageOf(
  text: string,
  maxTokens: number,
): Parameters<typeof inputRequired.createMessage>[0] {
  return { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens };
}

export function formOf(message: string, requestedSchema: Form): InputRequest {
  return inputRequired.elicit({ message, requestedSchema });
}

function offerForm(server: McpServer, name: string, form: Form): void {
  server.registerTool(name, { description: 'Asks with a form.' }, (context) =>
    asking(context, formOf('Please review the form.', form), said('Elicitation completed: ')),
  );
}

type View = ReturnType<typeof inputResponse>;

/** Asks one thing, and answers the call when there is an answer. */
function asking(
  { mcpReq }: ServerContext,
  request: InputRequest,
  textOf: (view: View) => string | undefined,
): CallToolResult | InputRequiredResult {
  const text = textOf(inputResponse(mcpReq.inputResponses, 'asked'));
  return text === undefined
    ? inputRequired({ inputRequests: { asked: request } })
    : { content: [{ type: 'text', text }] };
}

function said(before: string): (view: View) => string | undefined {
  return ({ kind, ...view }) => (kind === 'missing' ? undefined : `${before}${JSON.stringify(view)}`);
}

function textSchema(name: string): ReturnType<typeof fromJsonSchema<Readonly<Record<string, string>>>> {
  return fromJsonSchema({ type: 'object', properties: { [name]: { type: 'string' } }, required: [name] });
}
