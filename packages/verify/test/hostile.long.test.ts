// What each way to hide an effect leads to. docs/VERIFY.md names those that remain unseen.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openVerifier } from '../src/verifier.ts';
import { ROOT } from '../../../test/support/paths.ts';

const PYTHON = '/usr/bin/python3';

/** The verdict on `readOnlyHint: true` of each tool of hostile_server.py. */
const EXPECTED: Readonly<Record<string, string>> = {
  honest: 'consistent',
  at_exit: 'contradicted',
  at_sigterm: 'contradicted',
  after_five_seconds: 'contradicted',
  by_a_daemon: 'contradicted',
  by_a_timer: 'contradicted',
  times: 'contradicted',
  times_and_back: 'unseen_change',
  mode_and_back: 'unseen_change',
  folder_through_proc: 'unseen_change',
  mode_through_proc: 'unseen_change',
  folder_through_a_link: 'unseen_change',
  folder_below_a_link: 'unseen_change',
  folder_where_a_thread_went: 'unseen_change',
  // The call looks absent, and the C library would use one that is traced.
  mode_by_a_new_call: 'consistent',
  extended_attribute: 'contradicted',
  shared_file: 'hidden_target',
  system_v: 'hidden_target',
  message_queue: 'hidden_target',
  // It looks absent; programs fall back to calls that are traced.
  io_uring: 'consistent',
  kernel_key: 'hidden_target',
  signals_another: 'hidden_target',
  signals_all: 'hidden_target',
  mapped_and_back: 'unseen_change',
  mapped_before: 'unseen_change',
  temporary_file_linked: 'contradicted',
  // Without a tracer, the kernel refuses the calls that are traced.
  untraced_child: 'consistent',
  not_dumpable: 'unseen_change',
  abstract_socket: 'local_service',
  sets_the_clock: 'hidden_target',
  // Not observable.
  in_memory: 'consistent',
  if_unfiltered: 'consistent',
  after_a_minute: 'consistent',
};

describe.runIf(existsSync(PYTHON))('a tool that hides what it does', () => {
  it('is contradicted or UNOBSERVED, unless the documentation says that it cannot be seen', async () => {
    const names = (process.env['HOSTILE']?.split(',') ?? Object.keys(EXPECTED)).filter(
      (name) => name in EXPECTED,
    );
    const defined = names.map((name) => ({
      name,
      inputSchema: { type: 'object' },
      annotations: { readOnlyHint: true, openWorldHint: false },
    }));
    const server = join(import.meta.dirname, 'hostile_server.py');
    const verified = await openVerifier().verify({
      command: [PYTHON, server, '{seed}', JSON.stringify(defined)],
      cwd: ROOT,
      env: {},
      ownEnv: process.env,
      fixtures: undefined,
      baseline: undefined,
      tools: names,
      limits: { timeMs: 500_000, callMs: 30_000, sets: 1, repeats: 2 },
      recorded: new Map(),
      signal: new AbortController().signal,
      onProgress: () => undefined,
    });
    if (!verified.ok) throw new Error(JSON.stringify(verified.error));
    const found = verified.value.tools.map(({ name, failure, verdicts: { readOnlyHint: verdict } }) => [
      name,
      verdict.kind === 'unobserved' ? (failure ?? verdict.reason) : verdict.kind,
    ]);
    expect(Object.fromEntries(found)).toEqual(
      Object.fromEntries(names.map((name) => [name, EXPECTED[name]])),
    );
  });
});
