import { expect, it } from 'vitest';
import { toProblem } from '../../src/edges/rest/failure.ts';

it('a REST API error contains the code of its cause', () => {
  const cause = { code: 'PROCESS_EXITED', exitCode: 7 } as const;
  expect(toProblem({ code: 'SERVER_UNAVAILABLE', server: 's', cause }, '/gateways/s/refresh')).toEqual({
    type: '/docs/errors#SERVER_UNAVAILABLE',
    title: 'Server unavailable',
    status: 502,
    detail: 'Server "s" is not available: exited with code 7.',
    instance: '/gateways/s/refresh',
    code: 'SERVER_UNAVAILABLE',
    causeCode: 'PROCESS_EXITED',
  });
});

it('a REST API error without a cause contains no cause code', () => {
  expect(toProblem({ code: 'TOKEN_REQUIRED' }, '/tools')).not.toHaveProperty('causeCode');
});
