import { expect, it } from 'vitest';
import { findErrorLine } from '../src/stderr-error.ts';

it.each<[what: string, stderr: string, error: string | undefined]>([
  [
    'an exception of Node.js, not the code excerpt or the frames around it',
    `/srv/dist/index.js:12
  throw new Error("BRAVE_API_KEY environment variable is required");
  ^

Error: BRAVE_API_KEY environment variable is required
    at Object.<anonymous> (/srv/dist/index.js:12:9)
    at Module._compile (node:internal/modules/cjs/loader:1554:14) {
  code: 'X'
}

Node.js v24.21.0`,
    'Error: BRAVE_API_KEY environment variable is required',
  ],
  [
    'the message before npx announces a new version',
    `Please set SLACK_BOT_TOKEN and SLACK_TEAM_ID environment variables
npm notice
npm notice New major version of npm available!`,
    'Please set SLACK_BOT_TOKEN and SLACK_TEAM_ID environment variables',
  ],
  [
    'the last line of a Python traceback',
    `Traceback (most recent call last):
  File "/usr/lib/python3/runpy.py", line 198, in _run_module_as_main
ModuleNotFoundError: No module named 'mcp'`,
    "ModuleNotFoundError: No module named 'mcp'",
  ],
  [
    'the error before a usage text',
    `error: missing required argument 'url'
Usage: server [options] <url>
  --port <n>   where an error is shown
  <url>        required`,
    "error: missing required argument 'url'",
  ],
  [
    'the cause of an error reported in a sentence',
    'Could not connect TypeError: fetch failed\n    at async main {\n  [cause]: Error: getaddrinfo ENOTFOUND a.example\n}',
    'Error: getaddrinfo ENOTFOUND a.example',
  ],
  ['the error of a shell', 'sh: 1: mcp-servr: not found', 'sh: 1: mcp-servr: not found'],
  [
    'the error message of npm',
    `npm error code E404
npm error 404 Not Found - GET https://registry.example/nosuch - Not found
npm error 404
npm error 404 Note that you can also install from a tarball
npm error A complete log of this run can be found in: /home/me/.npm/_logs/x.log`,
    'npm error 404 Not Found - GET https://registry.example/nosuch - Not found',
  ],
  [
    'a sentence about missing configuration, among other output',
    'Starting…\nPlease set SLACK_BOT_TOKEN and SLACK_TEAM_ID; both are required\nBye',
    'Please set SLACK_BOT_TOKEN and SLACK_TEAM_ID; both are required',
  ],
  [
    'an error in a JSON log',
    '{"level":50,"msg":"no database"}\n{"level":30,"msg":"bye"}',
    'Error: no database',
  ],
  [
    'text without escape sequences',
    '\u001b[31m\u001b]0;title\u0007Error: a\u0000b\u001b[0m\u009b2J',
    'Error: ab2J',
  ],
  [
    'the last line if none reports an error',
    'Open http://127.0.0.1/sign-in\n',
    'Open http://127.0.0.1/sign-in',
  ],
  ['truncated if the line is very long', `Error: ${'x'.repeat(1_000)}`, `Error: ${'x'.repeat(293)}…`],
  ['absent without output', '\n   \n', undefined],
])('the error extracted from stderr is %s', (_, stderr, error) => {
  expect(findErrorLine(stderr.split('\n'))).toBe(error);
});
