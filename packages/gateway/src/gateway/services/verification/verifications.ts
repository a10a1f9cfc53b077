import type { VerificationResult } from '../../../api/verification.ts';
import { HINTS } from '@assay-mcp/kit/hint';
import { computeGatewayId, computeToolId } from '../../../core/record-ids.ts';
import { mergeVerification } from '../../../core/hints/tool-verification.ts';
import type { ToolRecord } from '../../../core/hints/tool-record.ts';
import type { AuditEvent } from '../../../core/audit-event.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { compileStops } from '../../../core/stops.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ServerSpec } from '../../../core/server-spec.ts';
import { listContradictions, computeCoverage, type VerifyReport } from '@assay-mcp/kit/verification/report';
import { toToolVerification } from '../../../core/hints/tool-verification-of.ts';
import type { ToolReport } from '@assay-mcp/kit/verification/verdict';
import { formatVerifyFault } from '@assay-mcp/kit/verification/verify-fault';
import type { Catalog } from '../../catalog/catalog.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';
import { getServerIds } from '../../catalog/tool-claims.ts';
import type { RecordChange } from '../../ports/records.ts';
import type { VerifierProgram, VerifyRun, VerifyTarget } from '@assay-mcp/kit/verification/verifier';
import type { ServerService } from '../servers/server-service.ts';
import { type ArgumentsReader, type RecordedArguments, readRecordedArguments } from './recorded-arguments.ts';

export interface VerificationsOptions {
  readonly catalog: Pick<Catalog, 'servers'>;
  readonly servers: Pick<ServerService, 'find'>;
  readonly records: RecordReplica;
  /** Loads the verifier. PACKAGE_MISSING, PACKAGE_INCOMPATIBLE, PATH_UNSAFE */
  readonly openVerifier: () => Promise<Result<Pick<VerifierProgram, 'verifyInThread'>, Refusal>>;
  readonly calls: ArgumentsReader;
  /** Masks secrets in a text. */
  readonly mask: (text: string) => string;
}

/** A server that can be verified. */
export interface VerifiableServer {
  readonly spec: ServerSpec;
  readonly target: VerifyTarget;
}

export interface VerificationRun extends Pick<VerifyRun, 'signal' | 'onProgress'> {
  readonly author: string;
  /** Whether tools are also called with the arguments of recorded calls. */
  readonly isRecorded: boolean;
}

/** Maximum number of tools of one server whose verdicts are kept. */
const MAX_TOOLS = 2_000;
const MAX_SHOWN = 100;
const NOTHING_RECORDED: RecordedArguments = new Map();

/** Verifies servers of the gateway, and keeps what was observed of their tools. */
export class Verifications {
  readonly #options: VerificationsOptions;
  #running: string | undefined;

  constructor(options: VerificationsOptions) {
    this.#options = options;
  }

  /** The server that is being verified. */
  get running(): string | undefined {
    return this.#running;
  }

  /**
   * The command of a server, by its id or name. Errors: SERVER_UNKNOWN; SERVER_UNAVAILABLE if its entry is disabled or
   * cannot be used; VERIFICATION_UNSUPPORTED if it is not started by a command.
   */
  server(idOrName: string): Result<VerifiableServer, Refusal> {
    const found = this.#options.servers.find(idOrName);
    if (!found.ok) return found;
    const { name, enabled } = found.value;
    const stop = compileStops(this.#options.records.stops())(name);
    if (stop !== undefined) return err({ code: 'CALL_STOPPED', stop });
    const spec = this.#options.catalog.servers.find((one) => one.spec.name === name)?.spec;
    if (spec === undefined) {
      const cause = enabled
        ? ({ code: 'ENTRY_UNREADABLE', reason: undefined } as const)
        : ({ code: 'ENTRY_DISABLED' } as const);
      return err({ code: 'SERVER_UNAVAILABLE', server: name, cause });
    }
    const { transport } = spec;
    if (transport.kind !== 'stdio')
      return err({ code: 'VERIFICATION_UNSUPPORTED', server: name, transport: transport.kind });
    const { command, args, cwd } = transport;
    // A verification calls tools with made-up arguments: it gets no secret.
    const secret = new Set(spec.references?.map((one) => one.name));
    const env = Object.fromEntries(Object.entries(transport.env).filter(([name]) => !secret.has(name)));
    return ok({ spec, target: { command: [command, ...args], cwd, env } });
  }

  /**
   * Verifies a server and keeps the verdicts, one verification at a time. Nothing is kept if the signal is aborted.
   * Errors: those of `server` and `openVerifier`, VERIFICATION_RUNNING, VERIFICATION_FAILED, CANCELLED.
   */
  async verify(
    idOrName: string,
    { author, isRecorded, ...run }: VerificationRun,
  ): Promise<Result<VerificationResult, Refusal>> {
    const found = this.server(idOrName);
    if (!found.ok) return found;
    const { spec, target } = found.value;
    if (this.#running !== undefined) return err({ code: 'VERIFICATION_RUNNING', server: this.#running });
    this.#running = spec.name;
    try {
      const verifier = await this.#options.openVerifier();
      if (!verifier.ok) return verifier;
      const recorded = isRecorded ? await this.recorded(spec) : ok(NOTHING_RECORDED);
      if (!recorded.ok) return recorded;
      const verified = await verifier.value.verifyInThread(target, { ...run, recorded: recorded.value });
      if (run.signal.aborted) return err({ code: 'CANCELLED' });
      if (!verified.ok) {
        const reason = this.#options.mask(formatVerifyFault(verified.error));
        return err({ code: 'VERIFICATION_FAILED', server: spec.name, reason });
      }
      return await this.record(spec, verified.value, author);
    } finally {
      this.#running = undefined;
    }
  }

  /** Arguments of recorded calls of this server's tools, with secrets masked. Error: STORE_UNAVAILABLE. */
  recorded(spec: ServerSpec): Promise<Result<RecordedArguments, Refusal>> {
    return readRecordedArguments(this.#options.calls, spec);
  }

  /** Keeps the verdicts of a report on this server. Error: STORE_UNAVAILABLE. */
  async record(
    spec: ServerSpec,
    report: VerifyReport,
    author: string,
  ): Promise<Result<VerificationResult, Refusal>> {
    const summary = this.#summaryOf(spec, report);
    const tools = [...new Map(report.tools.map((tool) => [tool.name, tool])).values()].slice(0, MAX_TOOLS);
    const kept = await this.#options.records.change(() => {
      const changed = tools.map((tool) => this.#changeOf(spec, tool, { report, author }));
      return ok({
        value: undefined,
        changes: changed.map(({ change }) => change),
        audit: [runEvent(summary, report, author), ...changed.flatMap(({ event }) => event ?? [])],
      });
    });
    return kept.ok ? ok(summary) : kept;
  }

  #changeOf(
    spec: ServerSpec,
    tool: ToolReport,
    { report, author }: { readonly report: VerifyReport; readonly author: string },
  ): { readonly change: RecordChange<'tool'>; readonly event?: AuditEvent } {
    const { records, mask } = this.#options;
    const { name: server } = spec;
    const { identity } = getServerIds(spec);
    const id = computeToolId(server, identity, tool.name);
    const before: ToolRecord = records.get('tool', id) ?? {
      ...{ id, server, identity, name: tool.name, overrides: {} },
    };
    const now = toToolVerification(tool, { report, author, mask });
    const verification = mergeVerification(before.verification, now);
    const change = { kind: 'tool', id, body: { ...before, verification } } as const;
    const contradicted = HINTS.flatMap((hint) => {
      const { kind, evidence } = now.hints[hint] ?? {};
      return kind === 'contradicted' ? [[hint, evidence?.[0]?.message ?? ''] as const] : [];
    });
    if (contradicted.length === 0) return { change };
    return {
      change,
      event: {
        atMs: report.startedMs,
        subject: author,
        action: 'tool.contradict',
        target: { kind: 'tool', id, name: `${server}.${tool.name}` },
        after: { contradicted: Object.fromEntries(contradicted) },
      },
    };
  }

  #summaryOf({ name }: ServerSpec, report: VerifyReport): VerificationResult {
    const { mask } = this.#options;
    const { tools, toolsWithSuccess, calls } = computeCoverage(report.tools);
    const contradictions = listContradictions(report)
      .slice(0, MAX_SHOWN)
      .map(({ tool, hint, evidence }) => ({
        tool: tool.name,
        hint,
        message: mask(evidence[0]?.message ?? ''),
      }));
    return { server: name, tools, toolsWithSuccess, calls, mechanisms: report.mechanisms, contradictions };
  }
}

function runEvent(
  { server, contradictions, ...numbers }: VerificationResult,
  { startedMs }: VerifyReport,
  author: string,
): AuditEvent {
  return {
    atMs: startedMs,
    subject: author,
    action: 'gateway.verify',
    target: { kind: 'gateway', id: computeGatewayId(server), name: server },
    after: { ...numbers, contradictions: contradictions.length },
  };
}
