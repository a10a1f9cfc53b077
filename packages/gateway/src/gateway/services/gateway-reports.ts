import type { CatalogReport, GatewayStatus, RunningStatus } from '../../api/status.ts';
import type { LintLevels } from '../../core/hints/lint.ts';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { Catalog } from '../catalog/catalog.ts';
import { buildGatewayStatus, type StatusSources } from './gateway-status.ts';
import { buildCatalogReport } from './tools/catalog-report.ts';

export interface ReportRequest {
  /** Absent: all servers. */
  readonly server?: string | undefined;
  /** Levels of lint rules that override the settings. */
  readonly levels?: Partial<LintLevels>;
  /** Whether a process without a gateway also starts servers whose tools are already known. */
  readonly isFresh: boolean;
}

/** The overviews that `assay tools`, `lint` and `status` print. */
export interface GatewayReports {
  /** SERVERS_ABSENT, CONFIG_ABSENT */
  readonly report: (request: ReportRequest) => Promise<Result<CatalogReport, Refusal>>;
  /** STORE_UNAVAILABLE */
  readonly status: () => Promise<Result<GatewayStatus, Refusal>>;
}

export interface ReportSources extends Pick<StatusSources, 'instructions' | 'stops'> {
  readonly catalog: Catalog;
  readonly lintLevels: LintLevels;
  /** This process and its clients. Undefined: no gateway is running. */
  readonly running: () => RunningStatus | undefined;
  /** Resolves when the tools are listed, with the names of the servers whose tools are as last listed. */
  readonly listTools: (request: ReportRequest) => Promise<Result<readonly string[], Refusal>>;
  /** The toolsets as stored now. */
  readonly toolsets: () => Promise<Result<StatusSources['toolsets'], Refusal>>;
}

export function createReports(sources: ReportSources): GatewayReports {
  const { catalog, lintLevels, instructions, running, listTools, toolsets, stops } = sources;
  return {
    report: async (request) => {
      const recalled = await listTools(request);
      if (!recalled.ok) return recalled;
      const { server, levels } = request;
      const options = { levels: { ...lintLevels, ...levels }, server, recalled: recalled.value };
      return ok(buildCatalogReport(catalog, options));
    },
    status: async () => {
      const read = await toolsets();
      return read.ok
        ? ok(buildGatewayStatus({ catalog, toolsets: read.value, instructions, stops }, running()))
        : read;
    },
  };
}
