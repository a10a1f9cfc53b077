import { expect, it } from 'vitest';
import { clientLines } from '../../src/edges/cli/serve.ts';

const lines = (needsToken: boolean): string =>
  clientLines({ endpoint: 'http://127.0.0.1:4444/mcp', needsToken, command: ['assay', 'stdio'] });

it('the lines to paste carry the header where a token is needed, and say where to get one', () => {
  const text = lines(true);
  expect(text).toContain('http://127.0.0.1:4444/mcp --header "Authorization: Bearer <token>"');
  expect(text.match(/"headers":\{"Authorization":"Bearer <token>"\}/g)).toHaveLength(2);
  expect(text).toContain('`assay token create NAME`');
});

it('they carry none where no token is needed', () => {
  expect(lines(false)).not.toMatch(/Authorization|token/);
});
