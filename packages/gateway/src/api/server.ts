import * as z from 'zod';
import { SERVER_STATE_NAMES } from '@assay-mcp/kit/server-states';
import { SANDBOX_CONCESSIONS, SANDBOX_MODES } from '@assay-mcp/sandbox/rights';
import { OUTPUT_VALIDATIONS } from '../core/sources/output-validation.ts';
import type { Data } from './data.ts';
import { mapHints } from './hint.ts';
import { TAGS_INPUT, TOOL_HINT } from './tool.ts';
import { WARNINGS } from './warnings.ts';

const SKIPPED = z.object({ what: z.string(), why: z.string() });

/** A server whose tools Assay offers, without secrets. */
export const GATEWAY = z
  .object({
    id: z.string(),
    name: z.string(),
    origin: z
      .enum(['config_file', 'registered'])
      .meta({ description: 'Gateways of the config file are read-only here.' }),
    transport: z
      .enum(['stdio', 'auto', 'streamable-http', 'sse', 'codebase', 'openapi', 'local'])
      .exactOptional(),
    openapi: z.string().exactOptional().meta({ description: 'The OpenAPI document.' }),
    baseUrl: z.string().exactOptional(),
    proxy: z
      .union([z.string(), z.literal(false)])
      .exactOptional()
      .meta({
        description: 'Its proxy, without credentials. `false`: none. Absent: that of the environment.',
      }),
    proxyResolves: z.boolean().exactOptional(),
    operations: z
      .object({ include: z.array(z.string()).optional(), exclude: z.array(z.string()).optional() })
      .exactOptional(),
    outputValidation: z.enum(OUTPUT_VALIDATIONS).exactOptional(),
    credentials: z
      .array(z.string())
      .exactOptional()
      .meta({ description: 'Names of the security schemes only.' }),
    url: z.string().exactOptional(),
    command: z.string().exactOptional(),
    args: z.array(z.string()).exactOptional(),
    cwd: z.string().exactOptional(),
    sandbox: z.enum(SANDBOX_MODES).exactOptional().meta({ description: 'Absent: off.' }),
    roots: z.array(z.string()).exactOptional(),
    network: z.array(z.string()).exactOptional(),
    sandboxAccepts: z.array(z.enum(SANDBOX_CONCESSIONS)).exactOptional(),
    stateful: z.array(z.string()).exactOptional().meta({
      description:
        'Tools observed to keep state in memory. If there are any, the twin refuses read-only tools unless `sandboxAccepts` has `separate_state`.',
    }),
    env: z.array(z.string()).exactOptional().meta({ description: 'Names only.' }),
    headers: z.array(z.string()).exactOptional().meta({ description: 'Names only.' }),
    clientCertificate: z.string().exactOptional().meta({ description: 'Its file.' }),
    ca: z.string().exactOptional(),
    references: z
      .array(z.object({ member: z.string(), value: z.string() }))
      .exactOptional()
      .meta({
        description:
          'Variables and headers whose values are read when it is connected, such as `env.TOKEN` with `${secret:TOKEN}`.',
      }),
    timeoutMs: z.int().exactOptional(),
    prefix: z.boolean().exactOptional(),
    isolation: z.enum(['session', 'shared']).exactOptional(),
    keepAlive: z.boolean().exactOptional(),
    stopTimeoutMs: z.int().exactOptional(),
    maxResultBytes: z.record(z.string(), z.int()).exactOptional().meta({
      description: 'By pattern of the tool name: the size in bytes above which results are cut.',
    }),
    tags: z.array(z.string()).exactOptional().meta({ description: 'Tags that apply to all its tools.' }),
    enabled: z.boolean().meta({ description: '`false`: the gateway is kept but not connected.' }),
    reachable: z.boolean(),
    state: z.enum(SERVER_STATE_NAMES).meta({ description: 'As in `Status`, or `disabled`.' }),
    cause: z
      .string()
      .exactOptional()
      .meta({ description: 'Why it is down, or why its tools are from an earlier read.' }),
    causeCode: z.string().exactOptional().meta({
      description: 'The code of that cause, such as PROCESS_EXITED; `assay docs causes` lists all.',
    }),
    keptState: z.enum(['observed', 'possible']).exactOptional().meta({
      description: 'Why the stop of an idle gateway may have lost what it kept in memory, as in `Status`.',
    }),
    era: z.string().exactOptional(),
    revision: z.string().exactOptional(),
    trust: z
      .object({ value: z.boolean(), origin: z.enum(['config_file', 'operator', 'default']) })
      .exactOptional(),
    toolCount: z.int(),
    skipped: z
      .array(SKIPPED)
      .exactOptional()
      .meta({ description: 'Parts of the source that could not be turned into tools.' }),
    shadows: z.literal(true).exactOptional().meta({
      description:
        'A registered gateway has the same name; the config file takes precedence. DELETE removes the registered one.',
    }),
    createdAt: z.iso.datetime().exactOptional(),
    createdBy: z.string().exactOptional(),
    warnings: WARNINGS,
  })
  .meta({ id: 'Gateway' });

export type Gateway = Data<typeof GATEWAY>;

const TEXTS = z.array(z.string()).nullable().optional();

const ENTRY = {
  url: z.string().nullable().optional(),
  transport: z
    .enum(['auto', 'http', 'streamable-http', 'sse', 'stdio', 'openapi', 'codebase'])
    .nullable()
    .optional(),
  headers: z.record(z.string(), z.string()).nullable().optional(),
  headerCommand: TEXTS.meta({
    description:
      'Program that prints further headers as a JSON object, with its arguments. Requires the scope `execute`.',
  }),
  clientCertificate: z
    .object({ certFile: z.string(), keyFile: z.string(), passphrase: z.string().optional() })
    .nullable()
    .optional()
    .meta({ description: 'PEM files on this machine. Requires the scope `execute`.' }),
  ca: z.string().nullable().optional().meta({
    description: 'PEM file on this machine with further trusted authorities. Requires the scope `execute`.',
  }),
  openapi: z
    .string()
    .nullable()
    .optional()
    .meta({ description: 'URL of an OpenAPI document. A file path requires the scope `execute`.' }),
  document: z.string().nullable().optional().meta({
    description:
      'Text of an OpenAPI document, as JSON or YAML, at most 4 MiB. A document that yields no tools is refused.',
  }),
  baseUrl: z.string().nullable().optional(),
  credentials: z
    .record(z.string(), z.union([z.string(), z.object({ username: z.string(), password: z.string() })]))
    .nullable()
    .optional()
    .meta({ description: 'Credentials by name of the security scheme.' }),
  operations: z
    .object({ include: z.array(z.string()).optional(), exclude: z.array(z.string()).optional() })
    .nullable()
    .optional()
    .meta({ description: 'Which operations become tools, such as `tag:pets`, `/pets/*` or `DELETE /*`.' }),
  maxBytes: z.int().nullable().optional(),
  outputValidation: z.enum(OUTPUT_VALIDATIONS).nullable().optional(),
  maxResultBytes: z
    .union([z.int(), z.record(z.string(), z.int())])
    .nullable()
    .optional(),
  proxy: z
    .union([z.string(), z.literal(false)])
    .nullable()
    .optional()
    .meta({
      description:
        'URL of the HTTP proxy for requests of this entry, with user and password if required; overrides the proxy of the environment. `false`: no proxy. Requires the scope `execute`.',
    }),
  proxyResolves: z.boolean().nullable().optional().meta({
    description:
      'Whether the proxy may resolve host names that Assay cannot; their addresses are then not checked. Requires the scope `execute`.',
  }),
  command: z.string().nullable().optional(),
  args: z.array(z.string()).nullable().optional(),
  env: z.record(z.string(), z.string()).nullable().optional(),
  cwd: z.string().nullable().optional(),
  sandbox: z
    .enum(['off', ...SANDBOX_MODES])
    .nullable()
    .optional()
    .meta({
      description:
        '`twin`: calls of read-only tools go to a second process that cannot change files. `strict`: the server itself runs in a sandbox as well. See `assay docs sandbox`.',
    }),
  roots: TEXTS.meta({
    description:
      'Paths that its sandboxed processes may read, in addition to `cwd` and the folders in `args`.',
  }),
  network: TEXTS.meta({
    description:
      'Hosts that its sandboxed processes may connect to, such as `api.example.com`, `*.example.com` or `localhost:8080`. Absent: all hosts at public addresses. `*`: the same, except that a `strict` server shares the network of this machine.',
  }),
  sandboxAccepts: z.array(z.enum(SANDBOX_CONCESSIONS)).nullable().optional().meta({
    description:
      "`separate_state`: read-only tools run in a second process although the server's tools keep state in memory. `node_permission`: where no sandbox can start, they run under Node's permission model. See `assay docs sandbox`.",
  }),
  timeoutMs: z.int().nullable().optional(),
  prefix: z.boolean().nullable().optional(),
  isolation: z.enum(['session', 'shared']).nullable().optional(),
  keepAlive: z.boolean().nullable().optional().meta({
    description:
      '`true`: its process runs all the time. Otherwise it is stopped when it was not used for `servers.idleMs`, and started by the next call.',
  }),
  stopTimeoutMs: z.int().nullable().optional().meta({
    description:
      'Time in ms for its process to end after its stdin closed, and again after SIGTERM. Default: 10,000 if its command is docker, podman or nerdctl, otherwise 2,000.',
  }),
  tags: TAGS_INPUT,
  enabled: z
    .boolean()
    .optional()
    .meta({ description: '`false`: keep the gateway, but do not connect to it.' }),
};

export const GATEWAY_CHANGE = z
  .object({
    ...ENTRY,
    trust: z.boolean().nullable().optional().meta({
      description:
        'Whether its hints may lower caution. Applies to this server only, not to a different one with the same name.',
    }),
  })
  .meta({ id: 'GatewayChange' });

export type GatewayChange = Data<typeof GATEWAY_CHANGE>;

export const GATEWAY_INPUT = GATEWAY_CHANGE.extend({ name: z.string() }).meta({ id: 'GatewayInput' });

/** The body that registers a gateway. */
export type GatewayInput = Data<typeof GATEWAY_INPUT>;

export const DOCUMENT_INPUT = GATEWAY_INPUT.extend({
  openapi: z.string().meta({
    description: 'URL of the document. A file path requires the scope `execute`.',
  }),
  isNameGiven: z
    .boolean()
    .optional()
    .meta({ description: '`true`: replace a source of this name that has another document.' }),
}).meta({ id: 'DocumentInput' });

export const GATEWAY_LIST = z.object({ gateways: z.array(GATEWAY) });

export type GatewayList = Data<typeof GATEWAY_LIST>;

/** Tools that a refresh found changed, by the server's own names. */
export const REFRESH_RESULT = z
  .object({
    gatewayId: z.string(),
    success: z.boolean(),
    toolsAdded: z.array(z.string()),
    toolsUpdated: z.array(z.string()),
    toolsRemoved: z.array(z.string()),
    durationMs: z.int(),
    refreshedAt: z.iso.datetime(),
  })
  .meta({ id: 'RefreshResult' });

export type RefreshResult = Data<typeof REFRESH_RESULT>;

/** A line that a server wrote, or that Assay logged about it. */
const GATEWAY_LOG_LINE = z.object({
  id: z.int(),
  at: z.iso.datetime(),
  level: z.enum(['info', 'warn', 'error']),
  from: z.enum(['stderr', 'assay']),
  text: z.string(),
});

export type GatewayLogLine = Data<typeof GATEWAY_LOG_LINE>;

export const GATEWAY_LOGS = z.object({ lines: z.array(GATEWAY_LOG_LINE) });

export type GatewayLogs = Data<typeof GATEWAY_LOGS>;

const DOCUMENT_TOOL = z.object({
  name: z.string(),
  title: z.string().exactOptional(),
  method: z.string().exactOptional(),
  path: z.string().exactOptional(),
  hints: z.object(mapHints(TOOL_HINT.pick({ effective: true, decidedBy: true, reason: true }))),
});

export type DocumentTool = Data<typeof DOCUMENT_TOOL>;

/** The tools that an OpenAPI document would add. */
export const DOCUMENT_PREVIEW = z
  .object({
    total: z.int(),
    tools: z.array(DOCUMENT_TOOL).meta({ description: 'The first 500.' }),
    skipped: z.array(SKIPPED).meta({ description: 'Operations that could not be turned into tools.' }),
  })
  .meta({ id: 'DocumentTools' });

export type DocumentPreview = Data<typeof DOCUMENT_PREVIEW>;

const NAMED_TOOLS = z.object({
  total: z.int(),
  names: z.array(z.string()).meta({ description: 'The server’s own names of the first 50.' }),
});

/** What trust in the hints of a server changes, and what it holds for. */
export const GATEWAY_TRUST = z
  .object({
    gatewayId: z.string(),
    name: z.string(),
    trust: GATEWAY.shape.trust.unwrap(),
    target: z.string().meta({
      description:
        'The command with its arguments, or the origin of the URL, that trust holds for. Another one under the same name is not trusted.',
    }),
    identity: z.string().meta({ description: 'Identifies that target. Send it back to change the trust.' }),
    approvals: z
      .enum(['client', 'gateway'])
      .meta({ description: 'Who asks for approval: the MCP client, or Assay.' }),
    toolCount: z.int(),
    notAsked: NAMED_TOOLS.meta({
      description: 'Tools whose calls need an approval only while the hints are not trusted.',
    }),
    askedLess: NAMED_TOOLS.meta({
      description: 'Tools whose calls need an approval once per session instead of each time if they are.',
    }),
    verified: z.int().meta({
      description: 'Number of tools, as they are now, that a verification on this machine has called.',
    }),
    studied: z
      .object({
        origin: z.string(),
        tools: z.int().meta({ description: 'Number of its current tools with a verdict.' }),
        contradicted: NAMED_TOOLS,
      })
      .exactOptional()
      .meta({ description: 'What the study that ships with Assay saw of the package that is started.' }),
    contradicted: NAMED_TOOLS.meta({
      description: 'Tools that did not do what their hints say. Trust changes nothing about those hints.',
    }),
  })
  .meta({ id: 'GatewayTrust' });

export type GatewayTrust = Data<typeof GATEWAY_TRUST>;

export const GATEWAY_TRUST_CHANGE = z
  .object({
    trust: z
      .boolean()
      .nullable()
      .meta({ description: 'Whether its hints may lower caution. Null: the default.' }),
    identity: z.string().max(64).meta({ description: 'The `identity` that you have seen.' }),
  })
  .meta({ id: 'GatewayTrustChange' });

export type GatewayTrustChange = Data<typeof GATEWAY_TRUST_CHANGE>;
