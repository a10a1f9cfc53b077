import { homedir } from 'node:os';
import { sep } from 'node:path';
import type { ServerStatus } from '../../api/status.ts';
import { formatCount } from '@assay-mcp/kit/counted';
import { toPrintable } from '@assay-mcp/kit/printable';
import { readKeys } from '@assay-mcp/kit/platform/terminal/keys';
import { print, printError, formatProse, style } from '@assay-mcp/kit/platform/terminal/print';
import { measureWidth, truncateToWidth } from '@assay-mcp/kit/platform/terminal/table';
import { isReady } from '../../core/supervision.ts';
import { printRefusal } from './output.ts';
import type { OpenServe, Runtime } from './runtime.ts';

/** What `assay serve` shows at a terminal as soon as it listens. */
interface ServeFacts {
  readonly version: string;
  readonly configPath: string;
  readonly endpoint: string;
  /** What clients of the endpoint see: `the toolset "mail" with 20 tools`. */
  readonly exposed: string;
  readonly logPath: string;
}

const LABEL_WIDTH = '  endpoint  '.length;
const LOG_HINT = ' (assay logs -f)';

/** Five lines, none wider than `columns`. */
export function formatServeLines(facts: ServeFacts, columns: number): readonly string[] {
  const { version, configPath, endpoint, exposed, logPath } = facts;
  const room = columns - LABEL_WIDTH;
  const title = `Assay ${version} serves `;
  const row = (label: string, text: string): string =>
    `  ${label.padEnd(LABEL_WIDTH - 2)}${truncateToWidth(text, room)}`;
  return [
    `${style.bold(`Assay ${version}`)} serves ${shortenPath(configPath, columns - title.length)}`,
    row('endpoint', endpoint),
    row('shows', exposed),
    row('log', `${shortenPath(logPath, room - LOG_HINT.length)}${LOG_HINT}`),
    'Press o to open the admin pages, h for help, q to stop.',
  ];
}

/** One line: "3 servers with 170 tools, 1 still starting; failed: github (assay status)". */
export function formatServersLine(servers: readonly ServerStatus[], columns: number): string {
  const tools = servers.reduce((sum, one) => sum + (one.tools ?? 0), 0);
  const starting = servers.filter(({ state }) => state === 'starting').length;
  const failed = servers.filter((one) => one.state !== 'starting' && hasFailed(one)).map(({ name }) => name);
  const counts = `${formatCount(servers.length, 'server')} with ${formatCount(tools, 'tool')}${starting === 0 ? '' : `, ${starting} still starting`}`;
  if (failed.length === 0) return counts;
  const hint = ' (assay status)';
  const named = `${counts}; failed: ${toPrintable(failed.join(', '))}${hint}`;
  return measureWidth(named) <= columns ? named : `${counts}; ${failed.length} failed${hint}`;
}

function hasFailed({ state, listFaults = [] }: ServerStatus): boolean {
  return !isReady({ state }) || listFaults.length > 0;
}

/** The user's home as `~`; of a long path the end, which tells more. */
function shortenPath(path: string, width: number): string {
  const home = homedir() + sep;
  const text = toPrintable(path.startsWith(home) ? `~${sep}${path.slice(home.length)}` : path);
  if (measureWidth(text) <= width) return text;
  let end = text;
  while (end !== '' && measureWidth(end) > width - 1) end = end.slice(1);
  return `…${end}`;
}

interface Attended {
  readonly opened: Pick<OpenServe, 'signInLink' | 'url'>;
  /** Printed for the key h. */
  readonly help: () => Promise<string>;
  /** Printed for the key c. */
  readonly clientLines: string;
}

const KEYS = [
  '  o  open the admin pages in your browser, signed in',
  '  c  show lines to paste into a client (`assay connect CLIENT` writes them)',
  '  h  show this help',
  '  q  stop; Ctrl+C does the same, and exits immediately if pressed twice',
].join('\n');

/** Acts on keys until the returned function is called. */
export function attendTerminal(
  runtime: Pick<Runtime, 'hasBrowser' | 'openBrowser'>,
  { opened, help, clientLines }: Attended,
): () => void {
  const actions: Readonly<Record<string, () => unknown>> = {
    o: () => openPages(runtime, opened),
    c: () => print(clientLines),
    h: async () => print(`\n${KEYS}\n\n${await help()}\n`),
    // Like Ctrl+C, so that there is one way to stop.
    q: () => process.kill(process.pid, 'SIGINT'),
  };
  let isActing = false;
  const act = async (key: string): Promise<void> => {
    const action = Object.hasOwn(actions, key) ? actions[key] : undefined;
    if (action === undefined) return;
    // A key that is held down does not queue actions; stopping twice is meant.
    if (isActing && key !== 'q') return;
    isActing = true;
    try {
      await action();
    } catch (error) {
      printError(`assay: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      isActing = false;
    }
  };
  const keys = readKeys((key) => void act(key));
  return keys.close;
}

async function openPages(
  runtime: Pick<Runtime, 'hasBrowser' | 'openBrowser'>,
  { signInLink, url }: Attended['opened'],
): Promise<void> {
  const link = await signInLink();
  if (!link.ok) {
    printRefusal(link.error);
    return;
  }
  const isOpened = runtime.hasBrowser() && (await runtime.openBrowser(link.value.url));
  if (isOpened)
    print(formatProse(`Opened ${url}/admin in your browser. \`assay token link\` prints a link instead.`));
  else printError(`Open this link in a browser within 10 minutes; it signs in once:\n${link.value.url}`);
}
