import { expect, it } from 'vitest';
import { findElsewhereFault } from '../../src/gateway/services/servers/elsewhere-fault.ts';

const HEADERS = { headers: { Authorization: 'x' } };

it.each(['url', 'httpUrl', 'serverUrl', 'baseUrl', 'openapi', 'document'])(
  'headers do not go to another origin by a change of %s alone',
  (key) => {
    const former = { [key]: 'https://a.example/one', ...HEADERS };
    const there = { [key]: 'https://b.example/one' };
    expect(findElsewhereFault(former, there)).toEqual({
      field: key,
      reason: 'it leads to another origin than "headers" was given for; give "headers" again, or null',
    });
    expect(findElsewhereFault(former, { ...there, headers: null })).toBeUndefined();
    expect(findElsewhereFault(former, { [key]: 'https://a.example/two' })).toBeUndefined();
  },
);
