import type { ResolveName } from '@assay-mcp/kit/platform/checked-lookup';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { formatNotifier, type Notice, type Notifier } from '../../core/notices.ts';
import { formatReachRemedy, type ReachRules, toOutbound } from '../../core/reach-rules.ts';
import type { SendNotice } from '../../gateway/ports/notices.ts';

export interface SendNoticeOptions {
  readonly rules: ReachRules;
  /** The folder in which programs start. */
  readonly home: string;
  readonly resolve?: ResolveName | undefined;
  /** Maximum time in ms for a request, or for a program to exit. */
  readonly limitMs?: number;
}

const LIMIT_MS = 10_000;
const ANSWER_LIMIT_BYTES = 64 * 1024;

/** Sends notices. The settings belong to whoever starts Assay, so a URL may lead where one in the config file may. */
export function createNoticeSender(options: SendNoticeOptions): SendNotice {
  return (notifier, notice) =>
    notifier.kind === 'webhook' ? post(notifier, notice, options) : run(notifier.argv, notice, options);
}

/** A redirect is a failure: it could lead the notice elsewhere. */
async function post(
  notifier: Notifier & { readonly kind: 'webhook' },
  notice: Notice,
  { rules, resolve, limitMs = LIMIT_MS }: SendNoticeOptions,
): Promise<Result<undefined, string>> {
  // Loaded for the first notice: an HTTP client is a third of a start.
  const { openCarefulFetch, Unfetched } = await import('@assay-mcp/kit/platform/careful-fetch');
  const http = openCarefulFetch({
    reachesFor: () => rules.config,
    outboundFor: () => toOutbound(rules, 'config'),
    remedy: (reaches) => formatReachRemedy(reaches, 'config'),
    resolve,
    allowsPlainLoopback: true,
    limitMs,
    limitBytes: ANSWER_LIMIT_BYTES,
  });
  try {
    const { ok: isDone, status } = await http.fetch(notifier.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(notice),
    });
    return isDone ? ok(undefined) : err(`${formatNotifier(notifier)} answered with status ${status}`);
  } catch (error) {
    if (!(error instanceof Unfetched)) throw error;
    // Its message may contain the path, which may be a secret.
    return err(`${formatNotifier(notifier)} could not be reached`);
  } finally {
    await http.close();
  }
}

async function run(
  [command, ...args]: readonly [string, ...string[]],
  notice: Notice,
  { home, limitMs = LIMIT_MS }: SendNoticeOptions,
): Promise<Result<undefined, string>> {
  const child = PLAIN_LAUNCHER.launch({ command, args, cwd: home, env: {} });
  // Read, so that it does not wait for a reader.
  child.onOutput(() => undefined);
  child.onErrorOutput(() => undefined);
  child.write([Buffer.from(`${JSON.stringify(notice)}\n`)]);
  child.endInput();
  const end = await waitAtMost(child.ended, limitMs);
  if (end === undefined) {
    child.signal('SIGKILL');
    await child.ended;
    return err(`${command} did not exit within ${limitMs / 1_000} s`);
  }
  if (end.code === 'PROCESS_EXITED')
    return end.exitCode === 0
      ? ok(undefined)
      : err(`${command} exited with code ${end.exitCode ?? 'unknown'}`);
  // A program that needs no input may close it.
  return err(`${command} failed (${end.code})`);
}
