import { describe, expect, it } from 'vitest';
import { inferFromMethod } from '../src/infer-hints.ts';

describe('an HTTP method', () => {
  it.each([
    ['GET', true, false, true, true],
    ['HEAD', true, false, true, true],
    ['OPTIONS', true, false, true, true],
    ['QUERY', true, false, true, true],
    ['POST', false, false, false, false],
    ['PUT', false, false, true, false],
    ['PATCH', false, false, false, false],
    ['DELETE', false, true, true, false],
    ['delete', false, true, true, false],
  ])('%s determines all four hints', (method, readOnlyHint, destructiveHint, idempotentHint, isSafe) => {
    expect(inferFromMethod(method)).toEqual({
      hints: { readOnlyHint, destructiveHint, idempotentHint, openWorldHint: true },
      reason: `${method.toUpperCase()} request`,
      isSafe,
    });
  });

  it.each(['TRACE', 'SSE', '', '__proto__'])('"%s" determines no hint', (method) => {
    expect(inferFromMethod(method)).toBeUndefined();
  });
});
