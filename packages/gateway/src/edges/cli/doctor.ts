import { Command } from 'commander';
import { formatCount } from '@assay-mcp/kit/counted';
import { EXIT } from '../../core/errors.ts';
import {
  CHECKS,
  countFindings,
  computeOutcome,
  sortFindings,
  type Diagnosis,
  type Finding,
  type Level,
} from '../../core/finding.ts';
import { checkRunningServers } from '../../core/check-servers.ts';
import type { GatewayStatus } from '../../api/status.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import type { AppOptions } from '../../core/command-options.ts';
import { type Done, withConfig } from './common-options.ts';
import { printFailure } from './output.ts';
import { print, printError, printJson, formatProse, style } from '@assay-mcp/kit/platform/terminal/print';
import { withProgress } from '@assay-mcp/kit/platform/terminal/progress';
import type { Runtime } from './runtime.ts';

/** `assay doctor` */
export function doctorCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('doctor')
      .description('check config, servers and machine, and suggest fixes')
      .option('--json', 'print JSON')
      .option('--offline', 'do not start any servers')
      .option('--start', 'start servers even if the gateway of this home is running')
      .option('--strict', 'exit with an error on warnings too')
      .action(async (options: DoctorOptions) => done(await diagnose(runtime, options))),
  );
}

interface DoctorOptions extends AppOptions {
  readonly json?: boolean;
  /** Do not start servers. */
  readonly offline?: boolean;
  /** Start servers even if the gateway of this home is running. */
  readonly start?: boolean;
  /** Also exit with an error on warnings. */
  readonly strict?: boolean;
}

/** `assay doctor`: prints what works, what does not, and the remedy. The exit code shows whether anything is wrong. */
async function diagnose(runtime: Runtime, options: DoctorOptions): Promise<number> {
  const { offline = false, start = false, strict = false, json = false } = options;
  const diagnosis = await withProgress('checking', ({ say }) =>
    runtime.examine({
      ...options,
      offline,
      start,
      onNews: (server, isUp) => say(`checking: ${server} ${isUp ? 'is up' : 'is down'}`),
    }),
  );
  const { notStarted } = diagnosis;
  const running = notStarted === 'gateway' ? await readRunningServers(runtime, options) : undefined;
  const findings = sortFindings([...diagnosis.findings, ...checkRunningServers(running ?? [])]);
  const problems = countFindings(findings, 'problem');
  const warnings = countFindings(findings, 'warning');
  if (json) {
    const { version: assay } = runtime;
    const { version: node, platform } = process;
    printJson({ findings, problems, warnings, notStarted, version: assay, node, platform });
  } else {
    for (const check of CHECKS) {
      const found = findings.filter((finding) => finding.check === check);
      if (found.length > 0) print([style.bold(check), ...joined(found).map(formatFinding), ''].join('\n'));
    }
    if (running !== undefined) print(`${formatProse(FROM_GATEWAY)}\n`);
    else if (notStarted !== undefined) print(`${formatProse(NOT_STARTED[notStarted])}\n`);
    print(`${formatCount(problems, 'problem')}, ${formatCount(warnings, 'warning')}`);
  }
  return EXIT[computeOutcome({ ...diagnosis, findings }, strict)];
}

const NOT_STARTED: Readonly<Record<NonNullable<Diagnosis['notStarted']>, string>> = {
  offline: 'Servers were not started.',
  gateway:
    'Servers were not checked: a gateway of this home is running, but did not report these servers. `--start` starts them.',
};

const FROM_GATEWAY =
  'Server states are those that the running gateway reports. `--start` starts each server again and checks it in detail.';

/** Undefined if the gateway cannot be asked; that is printed. */
async function readRunningServers(
  runtime: Runtime,
  options: DoctorOptions,
): Promise<GatewayStatus['servers'] | undefined> {
  const api = await runtime.openApi(options, printError);
  try {
    const status = await api.send<GatewayStatus>({ method: 'GET', path: '/status' });
    // A gateway with another config runs other servers.
    if (status.ok) return status.value.running && status.value.servers;
    printFailure(status.error);
    return undefined;
  } finally {
    await api.close();
  }
}

const SIGNS: Readonly<Record<Level, string>> = {
  ok: style.green('✓ ok     '),
  note: style.cyan('· note   '),
  warning: style.yellow('! warning'),
  problem: style.red('✗ problem'),
};

/** Joins equal findings about several servers, such as that their commands exist, into one. */
function joined(findings: readonly Finding[]): readonly Finding[] {
  const alike = Map.groupBy(findings, ({ about, ...rest }) => JSON.stringify(rest));
  return [...alike.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ ...first, about: group.map(({ about }) => about).join(', ') }];
  });
}

/** The width of a sign and what surrounds it. */
const HANGING = ' '.repeat(13);

function formatFinding(finding: Finding): string {
  const { level, about, message } = finding;
  const text = formatProse(toPrintable(`${about}: ${message}`), { indent: HANGING });
  const line = `  ${SIGNS[level]}  ${text.slice(HANGING.length)}`;
  if (finding.level === 'ok') return line;
  return `${line}\n${formatProse(toPrintable(finding.remedy), { indent: `${HANGING}  ` })}`;
}
