import { expect, it } from 'vitest';
import type { ToolReport } from '@assay-mcp/kit/verification/verdict';
import { findNeeds } from './find-need.ts';

function reportOf(answer: string, signals: ToolReport['signals'] = [], name = 'a'): ToolReport {
  const unobserved = { kind: 'unobserved', reason: 'no_success' };
  const attempts = [
    { args: {}, after: [], answer, calls: 1, isSuccess: false },
    { args: {}, after: [], answer: 'name is required', calls: 1, isSuccess: false },
  ];
  return {
    ...{ name, digest: 'd', declared: {}, signals, failure: 'name is required', attempts },
    coverage: { successfulCalls: 0 },
    verdicts: {
      ...{ readOnlyHint: unobserved, destructiveHint: unobserved },
      ...{ idempotentHint: unobserved, openWorldHint: unobserved },
    },
  } as unknown as ToolReport;
}

const findNeedOf = (report: ToolReport): unknown => findNeeds([report]).get(report.name);

it.each([
  ['GARDEN_API_TOKEN is not set', 'key'],
  ['Error: API key not configured', 'key'],
  ['Please provide an access token', 'key'],
  ['You are not logged in', 'key'],
  ['Please re-authenticate with the garden.', 'key'],
  ['Failed to parse URL from undefined/beds/1', 'key'],
  ['exec: "rake": executable file not found in $PATH', 'program'],
  ['Could not locate the bindings file. Tried: /tmp/a.node', 'program'],
  ['spawn rake ENOENT', 'program'],
  ['/bin/sh: 1: rake: not found', 'program'],
  ["browserType.launch: Executable doesn't exist at /root/x", 'program'],
  ['Bed 7: not found', undefined],
  ['The key of the shed must be a string', undefined],
  ['connect ECONNREFUSED 127.77.0.1:443', 'internet'],
  ['connect ECONNREFUSED 127.0.0.1:443', undefined],
  ['Error listing beds: fetch failed', 'internet'],
  ['Request failed with status code 503', 'internet'],
  ['No auth configured for the garden', 'key'],
  ['Browser not initialized. Call init() first.', 'program'],
  ['No connected editors', 'service'],
])('%s: %s', (answer, need) => {
  expect(findNeedOf(reportOf(answer))).toBe(need);
});

it('a server on this machine is needed by a tool that tried to connect to its port', () => {
  const connected = (target: string): ToolReport['signals'] => [
    { kind: 'local_connection', targets: [target] },
  ];
  expect(findNeedOf(reportOf('fetch failed', connected('127.0.0.1:8080')))).toBe('service');
  expect(findNeedOf(reportOf('no answer', connected('/var/run/nscd/socket')))).toBeUndefined();
});

it('a tool that asks for another one lacks what that one lacks', () => {
  const others = [
    reportOf('Bed 7 not found', [], 'water_bed'),
    reportOf('No water. Call create_bed first.', [], 'list_plants'),
    reportOf('请先使用 create_bed 工具', [], 'name_plants'),
    reportOf('Row 7 not found', [], 'prune_row'),
  ];
  const creates = (answer: string): ReadonlyMap<string, unknown> =>
    findNeeds([reportOf(answer, [], 'create_bed'), ...others]);
  const lacks = 'program';
  expect(Object.fromEntries(creates('spawn rake ENOENT'))).toEqual({
    ...{ create_bed: lacks, water_bed: lacks, list_plants: lacks, name_plants: lacks },
  });
  expect(creates('name is required').size).toBe(0);
});
