import { expect, it } from 'vitest';
import type { Approval } from '../../src/api/approval.ts';
import { findOwnApproval } from '../../src/app/call-tool.ts';

it('the question at a terminal is about the call of this process only', () => {
  const clientInfo = { name: 'assay', version: '1', title: 'assay call (0c1d)' };
  const waiting = (id: string, client: object | undefined): Approval =>
    ({ id, ...(client && { client: JSON.stringify(client) }) }) as Approval; // the members that are read
  const others = [
    waiting('none', undefined),
    waiting('alike', { ...clientInfo, title: 'assay call (0c1e)' }),
    waiting('more', { ...clientInfo, more: true }),
    waiting('earlier', { name: 'assay', version: '1', title: 'assay call' }),
  ];
  expect(findOwnApproval(others, clientInfo)).toBeUndefined();
  expect(findOwnApproval([...others, waiting('own', clientInfo)], clientInfo)?.id).toBe('own');
});
