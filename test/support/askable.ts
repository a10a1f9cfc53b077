import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { connectClient, connectFirst, textIn, type Endpoint, type Negotiation } from './clients.ts';
import type { Json, JsonObject } from './json.ts';

/** All client capabilities. */
export const CAPABILITIES = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {} },
  roots: { listChanged: true },
} as const;

/** Answers a server request by its method and params; an exception becomes the error response. */
export type Answerer = (method: string, params: Json) => JsonObject;

/** An official client that accepts server requests. */
export interface Askable {
  readonly label: string;
  /** Methods and params of the server requests so far, in order. */
  readonly asked: readonly { readonly method: string; readonly params: Json }[];
  answerWith(answerer: Answerer): void;
  /** Calls a tool; returns the text of its first content block. */
  call(tool: string, args?: JsonObject): Promise<string>;
  prompt(name: string, args: Readonly<Record<string, string>>): Promise<string>;
  tools(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface AskableOptions {
  readonly capabilities?: JsonObject;
}

/** All official clients that accept server requests. */
export const ASKABLE: readonly {
  readonly label: string;
  readonly era: 'legacy' | 'modern';
  readonly connect: (endpoint: Endpoint, options?: AskableOptions) => Promise<Askable>;
}[] = [
  { label: '1.x', era: 'legacy', connect: firstAskable },
  {
    label: '2.x legacy',
    era: 'legacy',
    connect: legacyAskable,
  },
  {
    label: '2.x modern',
    era: 'modern',
    connect: (endpoint, options) => secondAskable(endpoint, 'modern', options),
  },
];

/** The official client 2.x in the legacy era. */
export function legacyAskable(endpoint: Endpoint, options?: AskableOptions): Promise<Askable> {
  return secondAskable(endpoint, 'legacy', options);
}

/** Accepts everything and repeats the request in each answer. */
export const ACCEPT: Answerer = (method, params) => {
  if (method === 'roots/list') return { roots: [{ uri: 'file:///a', name: 'a' }] };
  if (method === 'elicitation/create')
    return (params as JsonObject)['mode'] === 'url'
      ? { action: 'accept' }
      : { action: 'accept', content: { who: String((params as JsonObject)['message']) } };
  return {
    role: 'assistant',
    model: 'made up',
    content: { type: 'text', text: 'said' },
    stopReason: 'endTurn',
  };
};

interface Received {
  readonly asked: { readonly method: string; readonly params: Json }[];
  answerer: Answerer;
  readonly handle: (request: unknown) => JsonObject;
}

function newReceived(): Received {
  const one: Received = {
    asked: [],
    answerer: ACCEPT,
    handle: (request) => {
      const { method, params = null } = request as { readonly method: string; readonly params?: Json };
      one.asked.push({ method, params });
      return one.answerer(method, params);
    },
  };
  return one;
}

async function firstAskable(
  endpoint: Endpoint,
  { capabilities = CAPABILITIES }: AskableOptions = {},
): Promise<Askable> {
  const one = newReceived();
  const client = await connectFirst(endpoint, { capabilities: capabilities }, (made) => {
    if ('elicitation' in capabilities)
      made.setRequestHandler(ElicitRequestSchema, (request) => one.handle(request));
    if ('sampling' in capabilities)
      made.setRequestHandler(CreateMessageRequestSchema, (request) => one.handle(request) as never);
    if ('roots' in capabilities)
      made.setRequestHandler(ListRootsRequestSchema, (request) => one.handle(request) as never);
  });
  return {
    label: '1.x',
    asked: one.asked,
    answerWith: (answerer) => void (one.answerer = answerer),
    call: async (name, args = {}) => textIn(await client.callTool({ name, arguments: args })),
    prompt: async (name, args) =>
      String((await client.getPrompt({ name, arguments: { ...args } })).description),
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    close: () => client.close(),
  };
}

async function secondAskable(
  endpoint: Endpoint,
  mode: Negotiation,
  { capabilities = CAPABILITIES }: AskableOptions = {},
): Promise<Askable> {
  const one = newReceived();
  const client = await connectClient(endpoint, mode, { capabilities: capabilities }, (made) => {
    if ('elicitation' in capabilities)
      made.setRequestHandler('elicitation/create', (request) => one.handle(request) as never);
    if ('sampling' in capabilities)
      made.setRequestHandler('sampling/createMessage', (request) => one.handle(request) as never);
    if ('roots' in capabilities)
      made.setRequestHandler('roots/list', (request) => one.handle(request) as never);
  });
  return {
    label: `2.x ${mode}`,
    asked: one.asked,
    answerWith: (answerer) => void (one.answerer = answerer),
    call: async (name, args = {}) => textIn(await client.callTool({ name, arguments: args })),
    prompt: async (name, args) =>
      String((await client.getPrompt({ name, arguments: { ...args } })).description),
    tools: async () => (await client.listTools()).tools.map((tool) => tool.name),
    close: () => client.close(),
  };
}
