import { describe, expect, it } from 'vitest';
import { getEra, hasBatches, METHODS, chooseVersion, SUPPORTED_VERSIONS } from '../src/eras.ts';

describe('revisions', () => {
  it('are listed newest first', () => {
    expect(SUPPORTED_VERSIONS).toEqual([
      '2026-07-28',
      '2025-11-25',
      '2025-06-18',
      '2025-03-26',
      '2024-11-05',
    ]);
  });

  it('belong to one era each, and unknown ones to none', () => {
    const check = (version: string, era: string | undefined): void => {
      expect([version, getEra(version)]).toEqual([version, era]);
    };
    check('2026-07-28', 'modern');
    for (const version of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']) check(version, 'legacy');
    for (const version of ['', '2024-10-07', '2027-01-01', '2025-11-25 ', '__proto__'])
      check(version, undefined);
  });

  it('have batches in the two oldest only', () => {
    expect(SUPPORTED_VERSIONS.filter(hasBatches)).toEqual(['2025-03-26', '2024-11-05']);
    expect(hasBatches('2024-10-07')).toBe(false);
  });

  it('are negotiated as requested if legacy, otherwise as the newest legacy one', () => {
    for (const version of ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'])
      expect(chooseVersion(version)).toBe(version);
    for (const version of ['2026-07-28', '2027-01-01', '2024-10-07', ''])
      expect(chooseVersion(version)).toBe('2025-11-25');
  });
});

describe('client requests', () => {
  it('exist in these eras', () => {
    expect([...METHODS].map(([method, { eras }]) => `${method}: ${eras.join(', ')}`)).toEqual([
      'initialize: legacy',
      'ping: legacy',
      'logging/setLevel: legacy',
      'server/discover: modern',
      'subscriptions/listen: modern',
      'tools/list: legacy, modern',
      'tools/call: legacy, modern',
      'prompts/list: legacy, modern',
      'prompts/get: legacy, modern',
      'resources/list: legacy, modern',
      'resources/templates/list: legacy, modern',
      'resources/read: legacy, modern',
      'resources/subscribe: legacy',
      'resources/unsubscribe: legacy',
      'completion/complete: legacy, modern',
      'tasks/get: legacy, modern',
      'tasks/cancel: legacy, modern',
      'tasks/result: legacy',
      'tasks/list: legacy',
      'tasks/update: modern',
    ]);
  });

  it('repeat a parameter in the Mcp-Name header if they name one thing', () => {
    expect(
      [...METHODS].flatMap(([method, { named }]) => (named === undefined ? [] : [[method, named]])),
    ).toEqual([
      ['tools/call', 'name'],
      ['prompts/get', 'name'],
      ['resources/read', 'uri'],
      ['tasks/get', 'taskId'],
      ['tasks/cancel', 'taskId'],
      ['tasks/update', 'taskId'],
    ]);
  });

  it('have cacheable results if these are lists, resources or the discovery', () => {
    expect([...METHODS].flatMap(([method, { isCacheable }]) => (isCacheable ? [method] : []))).toEqual([
      'server/discover',
      'tools/list',
      'prompts/list',
      'resources/list',
      'resources/templates/list',
      'resources/read',
    ]);
  });
});
