import { describe, expect, it } from 'vitest';
import { maskShapes } from '../src/secret-shapes.ts';

function check(text: string, expected: string): void {
  expect(maskShapes(text)).toBe(expected);
}

const A40 = 'a1B2c3D4e5'.repeat(4);

describe('text that looks like a credential', () => {
  it.each([
    [`Authorization: Bearer ${A40}`, 'Authorization: Bearer [masked]'],
    ['bearer xyz', 'bearer [masked]'],
    [`{"authorization":"Bearer ${A40}=="}`, '{"authorization":"Bearer [masked]"}'],
    [`Basic ${Buffer.from('user:pass').toString('base64')}`, 'Basic [masked]'],
    [`token assay_0a1b2c3d4e5f_${A40} ends`, 'token [masked] ends'],
    [`ghp_${A40}`, '[masked]'],
    [`github_pat_${A40}`, '[masked]'],
    ['sk-ant-api03-abcdefghijklmno', '[masked]'],
    ['xoxb-123456789012-abcdef', '[masked]'],
    ['AKIAIOSFODNN7EXAMPLE', '[masked]'],
    [`(eyJhbGciOi.eyJzdWIi.${A40})`, '([masked])'],
    ['postgres://user:hunter2@db/x', 'postgres://[masked]@db/x'],
    ['https://x/y?a=1&access_token=abc&b=2', 'https://x/y?a=1&access_token=[masked]&b=2'],
    ['https://x/y?key=abc#z', 'https://x/y?key=[masked]#z'],
    ['https://x/y?X-Amz-Signature=abc', 'https://x/y?X-Amz-Signature=[masked]'],
    ['https://x/y?next=https://z?token=abc', 'https://x/y?next=https://z?token=[masked]'],
    ['--config=token=abc and log="password=abc"', '--config=token=[masked] and log="password=[masked]"'],
    ['a.b.password=abc', 'a.b.password=[masked]'],
    ['secret="abc Bearer xyz"', 'secret=[masked]'],
    ['login with password=hunter2 failed', 'login with password=[masked] failed'],
    ['{"apiKey": "a\\"b", "n": 1}', '{"apiKey": "[masked]", "n": 1}'],
    [
      String.raw`{"text":"{\"password\":\"hunter2\",\"n\":1}"}`,
      String.raw`{"text":"{\"password\":\"[masked]\",\"n\":1}"}`,
    ],
    [
      '-----BEGIN RSA PRIVATE KEY-----\nMIIE\nvQ==\n-----END RSA PRIVATE KEY-----!',
      '-----BEGIN RSA PRIVATE KEY-----[masked]!',
    ],
  ])('is masked: %s', (text, expected) => check(text, expected));

  it.each([
    'max_tokens=512 of 4096',
    '{"tokenCount": "12", "password": "${PASSWORD}"}',
    'Bearer token is missing',
    'Bearer realm="x", error="invalid_token"',
    'Basic authentication is needed, basic features',
    'assay_request_duration_seconds_bucket',
    'task-management-system-for-2026',
    'https://user@host/x?monkey=7&page=2',
    'http://127.0.0.1:4444/mcp and mail@example.com',
    'the token was not accepted; the password is wrong',
    'eyJ is how they begin',
    '2026-11-20T16:00:00.000Z v24.21.0 /usr/lib/node_modules',
  ])('is not masked if it only resembles one: %s', (text) => check(text, text));

  it('is found in linear time, whatever the text', () => {
    const parts = [
      'eyJ',
      'eyJ-',
      'eyJaaaaa.',
      'sk-',
      'Bearer ',
      '://',
      '://a:',
      '?token',
      'token=',
      'a.',
      'a=',
      '"token":"',
      '\\\\"token\\\\":\\\\"',
      '"token": "\\\\',
      '&a.',
      ' ',
      'a',
      '-',
    ];
    for (const part of parts) {
      const line = part.repeat(Math.ceil(300_000 / part.length));
      expect(maskShapes(line).length).toBeGreaterThan(0);
    }
  });
});
