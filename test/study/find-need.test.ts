import { expect, it } from 'vitest';
import type { ToolReport } from '@assay-mcp/kit/verification/verdict';
import { findNeed } from './find-need.ts';

function reportOf(answer: string, signals: ToolReport['signals'] = []): ToolReport {
  const unobserved = { kind: 'unobserved', reason: 'no_success' };
  const attempts = [
    { args: {}, after: [], answer, calls: 1, isSuccess: false },
    { args: {}, after: [], answer: 'name is required', calls: 1, isSuccess: false },
  ];
  return {
    ...{ name: 'a', digest: 'd', declared: {}, signals, failure: 'name is required', attempts },
    verdicts: {
      ...{ readOnlyHint: unobserved, destructiveHint: unobserved },
      ...{ idempotentHint: unobserved, openWorldHint: unobserved },
    },
  } as unknown as ToolReport;
}

it.each([
  ['GARDEN_API_TOKEN is not set', 'key'],
  ['Error: API key not configured', 'key'],
  ['Please provide an access token', 'key'],
  ['You are not logged in', 'key'],
  ['spawn rake ENOENT', 'program'],
  ['/bin/sh: 1: rake: not found', 'program'],
  ["browserType.launch: Executable doesn't exist at /root/x", 'program'],
  ['Bed 7: not found', undefined],
  ['The key of the shed must be a string', undefined],
  ['connect ECONNREFUSED 127.77.0.1:443', undefined],
])('%s: %s', (answer, need) => {
  expect(findNeed(reportOf(answer))).toBe(need);
});

it('a server on this machine is needed by a tool that tried to connect to its port', () => {
  const connected = (target: string): ToolReport['signals'] => [
    { kind: 'local_connection', targets: [target] },
  ];
  expect(findNeed(reportOf('fetch failed', connected('127.0.0.1:8080')))).toBe('service');
  expect(findNeed(reportOf('fetch failed', connected('/var/run/nscd/socket')))).toBeUndefined();
});
