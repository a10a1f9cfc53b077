import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type Cause,
  CAUSE_CODES,
  type CauseCode,
  toCauseJson,
  formatCause,
  mapTexts,
  getRecovery,
  getRemedy,
} from '../../src/core/cause.ts';
import { INITIAL_STATE, computeNextState } from '../../src/core/supervision.ts';
import { ROOT } from '../../../../test/support/paths.ts';

/** One of each code, with its other members. */
const SAMPLES: { readonly [C in CauseCode]: Omit<Extract<Cause, { readonly code: C }>, 'code'> } = {
  COMMAND_NOT_FOUND: { command: 'npx' },
  COMMAND_NOT_EXECUTABLE: { command: './server' },
  CWD_INVALID: { command: 'node' },
  COMMAND_LINE_TOO_LONG: {},
  OPEN_FILES_EXHAUSTED: {},
  PROCESS_NOT_STARTED: { error: 'EAGAIN' },
  PROCESS_EXITED: { exitCode: 7 },
  PROCESS_KILLED: { signal: 'SIGKILL' },
  STDOUT_CLOSED: {},
  STDIN_CLOSED: {},
  SANDBOX_UNAVAILABLE: { gap: 'bubblewrap' },
  SANDBOX_UNSAFE: { reason: 'in_root', path: '/home/ada/notes/mcp.json' },
  PACKAGE_MISSING: {
    name: 'assay-codebase',
    version: '1.2.0',
    command: 'npm install assay-codebase@1.2.0',
    folder: '/srv/tools',
  },
  PACKAGE_INCOMPATIBLE: {
    name: 'assay-codebase',
    version: '1.2.0',
    path: '/usr/lib/node_modules/assay-codebase',
    installed: '1.1.0',
    command: 'npm install --global assay-codebase@1.2.0',
  },
  PATH_UNSAFE: {
    path: '/srv/tools/node_modules/assay-codebase/dist/program.js',
    at: '/srv/tools',
    reason: 'can be changed by every user',
    command: 'chmod go-w /srv/tools',
  },
  CONNECTION_REFUSED: {},
  CONNECTION_TIMEOUT: {},
  CONNECTION_CLOSED: {},
  CONNECTION_FAILED: { error: 'EPIPE' },
  HOST_UNKNOWN: { error: 'ENOTFOUND' },
  NETWORK_UNREACHABLE: { error: 'EHOSTUNREACH' },
  CERTIFICATE_INVALID: { error: 'CERT_HAS_EXPIRED' },
  TLS_FAILED: { error: 'ERR_SSL_WRONG_VERSION_NUMBER' },
  ADDRESS_NOT_ALLOWED: { reaches: ['private'], chosenBy: 'operator' },
  PROXY_UNREACHABLE: { proxy: 'http://proxy.example:3128', error: 'ECONNREFUSED' },
  PROXY_CREDENTIALS_REFUSED: { proxy: 'http://proxy.example:3128' },
  PROXY_REFUSED: { proxy: 'http://proxy.example:3128', status: 403 },
  PROXY_NOT_ALLOWED: { proxy: 'http://10.0.0.1:3128', reaches: ['private'] },
  PROXY_INVALID: {
    variable: 'HTTPS_PROXY',
    reason: 'only proxies of http:// and https:// are supported',
  },
  PROXY_TARGET_UNRESOLVED: { proxy: 'http://proxy.example:3128', error: 'ENOTFOUND' },
  CREDENTIALS_REFUSED: { status: 401 },
  ADDRESS_MOVED: { status: 308, location: 'https://example.com/mcp' },
  ENDPOINT_NOT_FOUND: { status: 404 },
  ENDPOINT_NOT_MCP: {},
  RATE_LIMITED: { status: 429 },
  HTTP_SERVER_ERROR: { status: 503 },
  HTTP_STATUS_UNEXPECTED: { status: 418 },
  SESSION_EXPIRED: {},
  RESPONSE_INCOMPLETE: {},
  STREAM_CLOSED: {},
  TWIN_NOT_STARTED: { cause: { code: 'PROCESS_EXITED', exitCode: 1 }, canDiscard: true },
  STREAM_NOT_RESUMED: { first: { code: 'CONNECTION_CLOSED' }, last: { code: 'CONNECTION_REFUSED' } },
  ENDPOINT_TIMEOUT: {},
  ENDPOINT_INVALID: {},
  ENDPOINT_NOT_ALLOWED: {},
  MESSAGE_TOO_LARGE: { limitBytes: 1024 },
  RESPONSE_INVALID: { reason: 'it has no id' },
  RESPONSE_AMBIGUOUS: { reason: 'it has two ids' },
  RESPONSE_TIMEOUT: { limitMs: 30_000 },
  HANDSHAKE_TIMEOUT: {},
  HANDSHAKE_TOO_LARGE: { reason: 'too large: at most 16 MiB are read' },
  HANDSHAKE_REFUSED: { message: 'not now' },
  PROTOCOL_VERSION_UNSUPPORTED: { version: '1.0' },
  LIST_REFUSED: { method: 'tools/list', error: '-32603', message: 'no' },
  LIST_INVALID: { method: 'tools/list', reason: 'it has no "tools" array' },
  LIST_UNANSWERED: { method: 'tools/list', cause: { code: 'RESPONSE_TIMEOUT', limitMs: 30_000 } },
  REQUEST_REFUSED: { error: 'INTERNAL', reason: 'Assay made a mistake.' },
  SIGN_IN_NEEDED: { server: 'issues', subject: 'local', cause: { code: 'SIGN_IN_EXPIRED' } },
  SIGN_IN_EXPIRED: {},
  SIGN_IN_UNREADABLE: {},
  SIGN_IN_ELSEWHERE: {},
  SCOPE_INSUFFICIENT: { scopes: ['write'] },
  TOKEN_REFUSED: {},
  TOKEN_EXPIRED: {},
  TOKEN_INVALID: {},
  RENEWAL_REFUSED: { error: 'invalid_grant' },
  AUTHORIZATION_SERVER_UNREACHABLE: { server: 's', subject: 'local', reason: 'did not answer in time' },
  TOKEN_RESPONSE_INVALID: { server: 's', subject: 'local' },
  RENEWAL_FAILED: { server: 's', subject: 'local', error: 'server_error' },
  RENEWAL_LOCKED: { server: 's', subject: 'local' },
  DOCUMENT_UNREADABLE: { document: '/srv/api.yaml', reason: 'cannot be fetched' },
  DOCUMENT_INVALID: { document: '/srv/api.yaml', reason: 'is neither JSON nor YAML' },
  DOCUMENT_TIMEOUT: { document: '/srv/api.yaml', limitMs: 5_000 },
  MODULE_NOT_LOADED: { reason: 'it throws' },
  MODULE_NOT_READY: { waitedMs: 3_000 },
  MODULE_LOAD_TIMEOUT: { limitMs: 10_000 },
  MODULE_REMOVED: {},
  MEMORY_EXCEEDED: { limitMb: 128 },
  EXIT_CALLED: { exitCode: '1', at: 'tools.ts:3:7' },
  EVENT_LOOP_BLOCKED: { tool: 'loop' },
  PROCESS_OUTPUT_INVALID: { reason: 'it is not JSON' },
  PROCESS_OUTPUT_EXCESSIVE: {},
  TOOL_FAILED: { reason: 'it broke' },
  ENTRY_INVALID: { line: 3, key: 'command', reason: 'it is empty', remedy: 'Give a command' },
  ENTRY_UNREADABLE: { reason: undefined },
  NAME_INVALID: { reason: 'it holds "$"' },
  ENTRY_DISABLED: {},
  ENTRY_SHADOWED: {},
  ENTRY_CHANGED: {},
  ENTRY_REMOVED: {},
  SERVER_RESTARTED: {},
  SERVER_NOT_READY: {},
  START_TIMEOUT: { limitMs: 30_000 },
  START_FAILED: {},
  READING_FAILED: { error: 'TypeError' },
  LINK_CLOSED: {},
  LINK_IDLE: {},
  LINK_REPLACED: {},
  CLIENT_GONE: {},
  SERVER_GONE: {},
  SHUTTING_DOWN: {},
  QUEUE_FULL: { waiting: 4 },
  QUEUE_TOO_LARGE: {},
  INPUT_NOT_READ: { waitedMs: 20 },
  REQUESTS_IN_FLIGHT: { inFlight: 8, waitedMs: 20 },
  REQUEST_LIMIT: {},
  SECRET_UNKNOWN: { member: 'env.TOKEN', secret: 'TOKEN' },
  SECRET_NOT_ALLOWED: { member: 'env.TOKEN', secret: 'TOKEN', server: 'github' },
  SECRET_UNREADABLE: {
    member: 'env.TOKEN',
    secret: 'TOKEN',
    reason: 'it was stored with another encryption key',
  },
  VALUE_FILE_UNREADABLE: {
    member: 'env.TOKEN',
    path: '/run/secrets/token',
    reason: 'it is not a regular file',
  },
  VALUE_COMMAND_FAILED: { member: 'env.TOKEN', program: 'op', reason: 'exited with code 1' },
  VALUE_INVALID: { member: 'headers.Authorization', reason: 'it is empty' },
  CLIENT_CREDENTIALS_REFUSED: { reason: 'the issuer answered "invalid_client"' },
  CERTIFICATE_FILE_UNUSABLE: {
    member: 'clientCertificate.keyFile',
    path: '/etc/assay/client.key',
    reason: 'it is not the key of the certificate',
  },
  LINK_LIMIT: { clients: 8, setting: 'limits.processesPerServer' },
};

const causeOf = (code: CauseCode): Cause => ({ code, ...SAMPLES[code] }) as Cause; // the members of that code

describe.each(CAUSE_CODES)('%s', (code) => {
  it('has a phrase and a remedy', () => {
    expect(formatCause(causeOf(code))).toMatch(/^\S.*\S$/);
    expect(formatCause(causeOf(code))).not.toMatch(/undefined|\[object/);
    expect(getRemedy(code)).toMatch(/^[A-Z].*[.?]$/);
  });

  it('determines how its server is retried', () => {
    const state = { time: 'restarting', change: 'refused', sign_in: 'unauthorized' }[getRecovery({ code })];
    const next = computeNextState(INITIAL_STATE, {
      kind: 'ended',
      cause: causeOf(code),
      nowMs: 0,
      chance: 0.5,
    });
    expect(next.state).toBe(state);
  });
});

it('docs/CAUSES.md lists all causes in the same order', () => {
  const recovery = { time: 'time', change: 'a change', sign_in: 'a sign-in' } as const;
  const rows = CAUSE_CODES.map((code) => {
    const cells = [
      `\`${code}\``,
      formatCause(causeOf(code)),
      recovery[getRecovery({ code })],
      getRemedy(code),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const page = readFileSync(join(ROOT, 'docs', 'CAUSES.md'), 'utf8');
  expect(page.split('\n').filter((line) => line.startsWith('| `'))).toEqual(rows);
});

it('a cause in public JSON has its phrase and its code only', () => {
  expect(toCauseJson(causeOf('PROCESS_EXITED'))).toEqual({
    cause: 'exited with code 7',
    causeCode: 'PROCESS_EXITED',
  });
});

it('every text in a cause is masked or truncated, including nested causes; its code is not', () => {
  const cause: Cause = {
    code: 'SIGN_IN_NEEDED',
    server: 'SECRET',
    subject: 'local',
    cause: { code: 'SCOPE_INSUFFICIENT', scopes: ['a SECRET', 'b'] },
  };
  expect(mapTexts(cause, (text) => text.replaceAll('SECRET', '*').replaceAll('SIGN', '*'))).toEqual({
    code: 'SIGN_IN_NEEDED',
    server: '*',
    subject: 'local',
    cause: { code: 'SCOPE_INSUFFICIENT', scopes: ['a *', 'b'] },
  });
});
