// Observations as a sandbox reports them, for tests of the judge.
import { createHash } from 'node:crypto';
import type {
  NetworkRequest,
  NoiseClass,
  Observation,
  StateChange,
  StateEntry,
  TracedEvent,
} from '@assay-mcp/sandbox/observation';
import { compareContent } from '../src/state/compare-content.ts';
import type { Answer, Trial } from '../src/judge/trial.ts';

export const SEED = '/seed';

export function file(text: string | Buffer, mode = 0o644): StateEntry {
  const content = Buffer.from(text as string);
  const digest = createHash('sha256').update(content).digest('hex');
  return { type: 'file', mode, size: content.length, digest, content };
}

export const created = (path: string, text = 'x'): StateChange => ({
  path,
  kind: 'created',
  after: file(text),
});
export const deleted = (path: string, text = 'x'): StateChange => ({
  path,
  kind: 'deleted',
  before: file(text),
});
export const modified = (path: string, before: string | Buffer, after: string | Buffer): StateChange => ({
  path,
  kind: 'modified',
  before: file(before),
  after: file(after),
  comparison: compareContent(Buffer.from(before as string), Buffer.from(after as string)),
});
export const removal = (path: string, noise?: NoiseClass): TracedEvent => ({
  kind: 'delete',
  path,
  atMs: 5,
  pid: 1,
  call: 'unlink',
  ...(noise !== undefined && { noise }),
});
export const dns = (name: string): NetworkRequest => ({ kind: 'dns', name, atMs: 5, pid: 1 });

export function observation(part: Partial<Observation> = {}): Observation {
  return {
    sinceMs: 0,
    untilMs: 10,
    mechanisms: ['overlay', 'syscall_trace', 'no_io_uring', 'empty_network', 'canaries'],
    changes: [],
    events: [],
    network: [],
    mapped: [],
    incomplete: [],
    ...part,
  };
}

export const answer = (text = 'ok', isError = false): Answer => ({
  kind: 'result',
  isError,
  digest: text,
  text,
});

/** A trial with one call for each observation, all of which succeed. */
export function trial(calls: readonly Partial<Observation>[], part: Partial<Trial> = {}): Trial {
  return {
    args: { a: 1 },
    origin: 'fixture',
    shape: '{"a":number}',
    control: observation(),
    pending: new Set(),
    calls: calls.map((one, at) => ({
      number: at + 1,
      atMs: 1,
      answer: answer(),
      observation: observation(one),
    })),
    late: observation(),
    end: undefined,
    endWithoutCall: undefined,
    replay: undefined,
    ...part,
  };
}
