import { buildPlan, type Keys, type Plan } from './plan.ts';

/*
 * Every member of a message that Assay reads or changes, in any method and era. All others are skipped. In its object,
 * a planned key may appear only once and only in this case, see `refusesTwice`.
 */

const TASKS = 'io.modelcontextprotocol/tasks';

const CAPABILITIES: Keys = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {}, context: {} },
  roots: { listChanged: {} },
  tasks: {},
  extensions: { [TASKS]: {} },
};

const META: Keys = {
  progressToken: {},
  traceparent: {},
  tracestate: {},
  'io.modelcontextprotocol/protocolVersion': {},
  'io.modelcontextprotocol/clientCapabilities': CAPABILITIES,
  'io.modelcontextprotocol/clientInfo': { name: {}, version: {} },
  'io.modelcontextprotocol/logLevel': {},
  'io.modelcontextprotocol/related-task': { taskId: {} },
  'io.modelcontextprotocol/subscriptionId': {},
};

/** For requests and notifications of either side. */
const PARAMS: Keys = {
  name: {},
  arguments: {},
  uri: {},
  ref: { type: {}, name: {}, uri: {} },
  cursor: {},
  level: {},
  requestState: {},
  inputResponses: {},
  requestId: {},
  reason: {},
  progressToken: {},
  taskId: {},
  task: {},
  mode: {},
  elicitationId: {},
  protocolVersion: {},
  capabilities: CAPABILITIES,
  clientInfo: { name: {}, version: {} },
  notifications: {
    toolsListChanged: {},
    promptsListChanged: {},
    resourcesListChanged: {},
    resourceSubscriptions: {},
    taskIds: {},
  },
  _meta: META,
};

const RESULT: Keys = {
  resultType: {},
  ttlMs: {},
  cacheScope: {},
  requestState: {},
  inputRequests: {},
  isError: {},
  task: { taskId: {} },
  taskId: {},
  tasks: {},
  tools: {},
  prompts: {},
  resources: {},
  resourceTemplates: {},
  nextCursor: {},
  protocolVersion: {},
  supportedVersions: {},
  capabilities: {},
  instructions: {},
  _meta: META,
};

export const MESSAGE_KEYS: Keys = {
  jsonrpc: {},
  id: {},
  method: {},
  params: PARAMS,
  result: RESULT,
  error: { code: {}, message: {}, data: { supported: {} } },
};

export const MESSAGE_PLAN: Plan = buildPlan(MESSAGE_KEYS);
