import * as z from 'zod';
import { SERVER_STATE_NAMES } from '@assay-mcp/kit/server-states';
import type { CauseCode } from '../core/cause.ts';
import { type Readiness, READINESS_REASONS } from '../core/readiness.ts';
import type { Data } from './data.ts';
import { ACTIVE_STOP, type ActiveStop } from './stop.ts';
import { TOOL } from './tool.ts';

/** Of this version; clients may see others. */
const CAUSE_CODE: z.ZodType<CauseCode> = z.string().meta({
  description: 'The code of that cause, such as PROCESS_EXITED; `assay docs causes` lists all.',
}) as unknown as z.ZodType<CauseCode>;

const LIST_FAULT = z.object({
  list: z.enum(['tools', 'resources', 'resourceTemplates', 'prompts']),
  cause: z.string(),
  causeCode: CAUSE_CODE,
});

/** A list that could not be read. */
export type ListFaultView = Data<typeof LIST_FAULT>;

/** The status of one server, for operators and monitoring. */
export const SERVER_STATUS = z
  .object({
    name: z.string(),
    state: z.enum(SERVER_STATE_NAMES).exclude(['disabled']).meta({
      description:
        '`idle`: not running, as nothing needs it; its tools are listed, and the next call starts it. `stopped`: also every server of a gateway that is not running.',
    }),
    cause: z.string().exactOptional().meta({ description: 'The first cause of the downtime.' }),
    causeCode: CAUSE_CODE.exactOptional(),
    failures: z.int().exactOptional().meta({ description: 'Consecutive failures.' }),
    nextTryMs: z
      .int()
      .exactOptional()
      .meta({ description: 'Time in ms until the next attempt; 0 during the attempt.' }),
    keptState: z.enum(['observed', 'possible']).exactOptional().meta({
      description:
        'Why the stop of an idle server may have lost what it kept in memory: a verification observed such state, or a tool ran that is not known to be read-only.',
    }),
    era: z.string().exactOptional(),
    revision: z.string().exactOptional(),
    tools: z
      .int()
      .exactOptional()
      .meta({ description: 'Number of its tools. Absent if they were never read.' }),
    listFaults: z.array(LIST_FAULT).exactOptional().meta({
      description:
        'The lists that could not be read, and why. They show an earlier reading, or nothing. Absent: none.',
    }),
  })
  .meta({ id: 'ServerStatus' });

export type ServerStatus = Data<typeof SERVER_STATUS>;

const CONNECTED_CLIENT = z.object({
  name: z.string().meta({ description: 'The name that the client gives itself.' }),
  version: z.string().exactOptional(),
  era: z.enum(['legacy', 'modern']),
  endpoint: z.string(),
  subject: z.string().meta({ description: 'The name of its token, or `local`.' }),
  idleMs: z
    .int()
    .exactOptional()
    .meta({ description: 'Time since its last request. Absent while a request or its stream is open.' }),
});

/**
 * A client with a session or an open stream of updates, or a modern one that made a request in the last few minutes.
 */
export type ConnectedClient = Data<typeof CONNECTED_CLIENT>;

const RUNNING_STATUS = z.object({
  url: z.string().meta({ description: 'Empty if it listens at the socket of its home only.' }),
  isOnDemand: z
    .boolean()
    .meta({ description: 'Whether a client has started it in the background; it ends when idle.' }),
  pid: z.int(),
  version: z.string(),
  uptimeMs: z.int(),
  configPath: z.string(),
  configFault: z
    .string()
    .exactOptional()
    .meta({ description: 'Why the current config file is not in effect.' }),
  clients: z.array(CONNECTED_CLIENT).meta({ description: 'Clients with a session or an open stream.' }),
});

export type RunningStatus = Data<typeof RUNNING_STATUS>;

const PENDING_REVIEWS = z
  .object({ tools: z.int(), instructions: z.int(), notes: z.int() })
  .meta({ description: 'Number that need a review.' });

export type PendingReviews = Data<typeof PENDING_REVIEWS>;

/** What `assay status` prints. */
export const GATEWAY_STATUS = z
  .object({
    running: RUNNING_STATUS.exactOptional().meta({ description: 'Absent: no gateway is running.' }),
    servers: z.array(SERVER_STATUS),
    equipped: z
      .string()
      .exactOptional()
      .meta({ description: 'The toolset that `/mcp` serves. Absent: none is equipped.' }),
    pending: PENDING_REVIEWS,
    stops: z.array(ACTIVE_STOP).exactOptional().meta({ description: 'What is stopped. Absent: nothing.' }),
  })
  .meta({ id: 'Status' });

export type GatewayStatus = Data<typeof GATEWAY_STATUS>;

const REVIEW_COUNTS = z.object({
  tools: z.int().meta({
    description: 'Tools with a relevant change of their definition, or with a suspended override.',
  }),
  dangerous: z.int(),
  suspended: z.int().meta({ description: 'Tools with a suspended override.' }),
});

/** Number of tools that wait for a review. */
export type ReviewCounts = Data<typeof REVIEW_COUNTS>;

/** A definition as its server sent it, with the members that Assay adds. */
const CATALOG_TOOL = TOOL.pick({
  name: true,
  namespacedName: true,
  refId: true,
  state: true,
  withheld: true,
  hints: true,
  lint: true,
  suggested: true,
  drift: true,
})
  .extend({ server: z.string() })
  .catchall(z.unknown())
  .meta({ id: 'CatalogTool' });

export type CatalogTool = Data<typeof CATALOG_TOOL>;

/** The tools and servers of a catalog, as `assay tools` and `assay lint` print them. */
export const CATALOG_REPORT = z
  .object({
    tools: z.array(CATALOG_TOOL).meta({
      description: 'In the order of the catalog, with disabled tools last.',
    }),
    servers: z.array(SERVER_STATUS),
    recalled: z.array(z.string()).meta({
      description: 'Servers that were not started for this report: their tools are as last seen.',
    }),
    known: z
      .array(z.string())
      .meta({ description: 'The names of all gateways, even if the report is about one.' }),
    reports: z
      .array(z.string())
      .meta({ description: 'Sentences about tools that clients see changed or not at all.' }),
    review: REVIEW_COUNTS.exactOptional().meta({ description: 'Absent: none.' }),
  })
  .meta({ id: 'CatalogReport' });

export type CatalogReport = Data<typeof CATALOG_REPORT>;

/** What `/ready` answers, with status 503 if it is `unavailable`. */
export const READINESS = z
  .object({
    status: z.enum(['ready', 'degraded', 'unavailable']),
    reasons: z.array(z.enum(READINESS_REASONS)),
  })
  .meta({ id: 'Readiness' }) satisfies z.ZodType<Readiness>;

/** What `/health` shows to callers with the scope `read`; others see `status` alone. */
export interface Health
  extends
    Pick<RunningStatus, 'version' | 'uptimeMs' | 'configFault'>,
    Pick<CatalogReport, 'servers' | 'reports' | 'review'> {
  /**
   * `starting` until each server has had a chance to start, then `ok` if all are up and were listed, else `degraded`.
   * `stopping` once new requests are refused.
   */
  readonly status: 'ok' | 'starting' | 'degraded' | 'stopping';
  /** Why nothing can be saved, or why changes by other processes are polled. */
  readonly storeFault?: string;
  /** Why what the store keeps encrypted cannot be decrypted. */
  readonly keyFault?: string;
  /** What operators have stopped. */
  readonly stops?: readonly ActiveStop[];
}
