import { describe, expect, it } from 'vitest';
import { toCauseJson } from '../../src/core/cause.ts';
import { EXIT, getExitCode, getReportedCodes, getRestStatus, toRpcError } from '../../src/core/errors.ts';
import { formatRefusal } from '../../src/core/sentences.ts';
import type { Refusal, RefusalCode } from '../../src/core/refusal.ts';

type Details<C extends RefusalCode> = Omit<Extract<Refusal, { code: C }>, 'code'>;
type Examples = { readonly [C in RefusalCode]: readonly [faces: string, details: Details<C>] };

/** Text from a peer: it must not escape its quotes or its line. */
const HOSTILE = 'x".\nIgnore\u0000 this: `rm`';

/** All codes with JSON-RPC code, HTTP status and exit code. Clients and scripts rely on them: rows may be added but never changed. */
const REFUSALS: Examples = {
  MESSAGE_NOT_JSON: ['-32700 400 2', { reason: 'not UTF-8' }],
  MESSAGE_INVALID: ['-32600 400 2', { reason: '"method" must be a string' }],
  MESSAGE_TOO_LARGE: ['-32600 413 2', { limitBytes: 1 }],
  BODIES_FULL: ['-32603 503 4', { limitBytes: 1, waitSeconds: 5 }],
  METHOD_UNKNOWN: ['-32601 404 2', { method: HOSTILE }],
  PARAMS_INVALID: ['-32602 200 2', { field: 'params.name', reason: 'it must be a string' }],
  ENVELOPE_INVALID: ['-32602 400 2', { field: 'params._meta', reason: 'it is missing' }],
  HEADER_MISMATCH: ['-32020 400 2', { header: 'Mcp-Name', reason: 'it is missing' }],
  PROTOCOL_UNSUPPORTED: ['-32022 400 2', { requested: HOSTILE, supported: ['2026-07-28'] }],
  SESSION_MISSING: ['-32600 400 2', {}],
  SESSION_UNKNOWN: ['-32600 404 2', {}],
  EVENT_UNKNOWN: ['-32600 400 2', {}],
  SESSION_LIMIT: ['-32603 503 4', {}],
  TARGET_INVALID: ['-32600 400 2', { reason: 'it holds a fragment ("#")' }],
  HEADER_INVALID: ['-32600 400 2', { header: 'Host', reason: 'it is there more than once' }],
  CONNECTION_LIMIT: ['-32603 503 4', { limit: 3 }],
  HOST_FORBIDDEN: ['-32600 403 2', { host: HOSTILE }],
  ORIGIN_FORBIDDEN: ['-32600 403 2', { origin: HOSTILE }],
  TOKEN_REQUIRED: ['-32600 401 2', {}],
  LINK_UNUSABLE: ['-32600 401 2', {}],
  ISSUER_UNAVAILABLE: ['-32603 503 4', { issuer: HOSTILE, waitSeconds: 5 }],
  HTTP_METHOD_UNKNOWN: ['-32600 405 2', { method: HOSTILE, allowed: 'POST' }],
  MEDIA_TYPE_UNKNOWN: ['-32600 415 2', { type: HOSTILE }],
  NOT_ACCEPTABLE: ['-32600 406 2', {}],
  ENDPOINT_UNKNOWN: ['-32600 404 2', { path: HOSTILE, known: ['/mcp'] }],
  TOOL_UNKNOWN: ['-32602 200 2', { name: HOSTILE }],
  NAME_AMBIGUOUS: ['-32602 200 2', { name: HOSTILE, candidates: ['a_b', 'a_c'] }],
  TOOL_WITHHELD: ['-32602 200 2', { name: HOSTILE, reason: 'inputSchema is absent' }],
  PROMPT_UNKNOWN: ['-32602 200 2', { name: HOSTILE }],
  RESOURCE_UNKNOWN: ['-32602 200 2', { uri: HOSTILE }],
  SUBSCRIPTION_UNSUPPORTED: ['-32602 200 2', { server: HOSTILE, uri: HOSTILE }],
  SUBSCRIPTION_LIMIT: ['-32603 429 4', { limit: 3 }],
  SERVER_STATE_LOST: ['-32603 200 1', { server: 'x' }],
  RESPONSE_LOST: ['-32603 200 1', { sent: { effect: 'unknown', times: 1, mayRepeat: false } }],
  SESSION_STATE_LIMIT: ['-32603 429 4', { limitBytes: 3 }],
  ANSWER_UNDELIVERED: ['-32603 503 4', { reason: 'x' }],
  EVENT_STREAM_LIMIT: ['-32603 429 4', { limit: 3 }],
  CURSOR_INVALID: ['-32602 200 2', {}],
  TASK_UNKNOWN: ['-32602 200 2', { taskId: HOSTILE }],
  TASK_UNSUPPORTED: ['-32601 200 2', { name: HOSTILE }],
  TASK_REQUIRED: ['-32602 200 2', { name: HOSTILE }],
  CAPABILITY_MISSING: ['-32021 400 2', { requiredCapabilities: { extensions: { 'x/y': {} } } }],
  SERVER_UNAVAILABLE: ['-32603 200 4', { server: HOSTILE, cause: { code: 'PROCESS_EXITED', exitCode: 7 } }],
  SERVER_MESSAGE_INVALID: ['-32603 200 4', { server: HOSTILE, reason: 'the member "id" occurs twice' }],
  SERVER_ENDED: ['-32603 200 4', { server: HOSTILE, cause: { code: 'PROCESS_EXITED', exitCode: 7 } }],
  SANDBOX_UNAVAILABLE: ['-32603 200 3', { server: HOSTILE, gap: 'bubblewrap' }],
  SANDBOX_DENIED: [
    '-32603 200 1',
    { server: HOSTILE, tool: HOSTILE, rights: 'read', denial: { kind: 'write', target: HOSTILE } },
  ],
  SESSION_RENEWED: [
    '-32603 200 4',
    { server: HOSTILE, cause: { code: 'SESSION_EXPIRED', message: HOSTILE } },
  ],
  SERVER_UNREACHED: ['-32603 200 4', { server: HOSTILE, cause: { code: 'SESSION_EXPIRED' } }],
  SERVER_TIMEOUT: ['-32603 200 4', { server: HOSTILE, limitMs: 1 }],
  SERVER_ASKS: ['-32603 200 1', { server: HOSTILE, reason: 'but its request is malformed' }],
  QUESTION_UNANSWERED: ['-32603 200 1', { server: HOSTILE, method: HOSTILE, reason: HOSTILE }],
  CLIENT_SILENT: ['-32603 200 1', { reason: 'the client is gone' }],
  STATE_INVALID: ['-32602 200 2', { reason: 'it has expired' }],
  CALL_EXPIRED: ['-32602 200 4', {}],
  CALL_ELSEWHERE: ['-32602 200 4', {}],
  CANCELLED: ['-32603 200 1', {}],
  SHUTTING_DOWN: ['-32603 503 4', {}],
  INTERNAL: ['-32603 500 1', {}],
  CONFIG_ABSENT: ['-32603 500 3', { path: HOSTILE }],
  CONFIG_UNREADABLE: ['-32603 500 3', { path: HOSTILE, reason: 'it is a folder' }],
  CONFIG_INVALID: ['-32603 500 3', { path: HOSTILE, reason: 'it is empty' }],
  PATH_UNSAFE: [
    '-32603 500 3',
    { path: HOSTILE, at: HOSTILE, reason: 'is writable by every user', command: 'chmod' },
  ],
  SETTING_INVALID: ['-32603 500 3', { name: 'ASSAY_PORT', reason: 'it is no number' }],
  ADDRESS_NEEDS_TOKEN: ['-32603 500 3', { host: HOSTILE }],
  ADDRESS_UNUSABLE: ['-32603 500 4', { address: '127.0.0.1:1', reason: 'it is in use' }],
  ATTACH_REFUSED: ['-32603 500 3', { reason: HOSTILE }],
  GATEWAY_ENDED: ['-32603 502 4', {}],
  GATEWAY_RUNNING: ['-32603 500 3', { pid: 1, url: 'http://127.0.0.1:4444' }],
  ARGUMENTS_INVALID: ['-32602 400 2', { reason: 'not JSON' }],
  SERVERS_ABSENT: ['-32603 500 3', { path: HOSTILE }],
  WRITE_UNCONFIRMED: ['-32603 503 4', { reason: 'the connection to it was lost' }],
  STORE_NOT_FOLLOWED: ['-32603 503 4', { notifications: 'silent' }],
  CHANGES_LIMIT: ['-32603 200 4', { limit: 600, waitSeconds: 60 }],
  STORE_STALE: ['-32603 503 4', { waitSeconds: 5 }],
  STORE_UNAVAILABLE: ['-32603 503 4', { reason: 'the disk is full' }],
  RECORD_UNREADABLE: ['-32603 503 3', { kind: 'tool', id: HOSTILE, reason: HOSTILE }],
  SCHEMA_TOO_NEW: ['-32603 503 3', { place: HOSTILE, found: 2, known: 1 }],
  STORE_MOVED: ['-32603 503 4', { path: HOSTILE, what: 'gone' }],
  REVOCATION_UNSAVED: ['-32603 503 4', { kind: 'tool', name: HOSTILE, reason: 'the disk is full' }],
  SCHEMA_TOO_OLD: ['-32603 503 3', { place: HOSTILE, schema: HOSTILE }],
  STORE_DAMAGED: ['-32603 503 3', { path: HOSTILE, keptAs: HOSTILE, reason: 'it is no database' }],
  TOKEN_EXISTS: ['-32602 409 2', { name: HOSTILE }],
  LABELS_UNKNOWN: ['-32602 404 2', { subject: HOSTILE }],
  TOKEN_UNKNOWN: ['-32602 404 2', { name: HOSTILE }],
  CALL_UNKNOWN: ['-32602 404 2', { id: HOSTILE }],
  SCOPE_MISSING: ['-32600 403 2', { scope: 'mcp' }],
  TOO_MANY_FAILURES: ['-32600 429 4', { waitSeconds: 60 }],
  CLIENT_BUSY: ['-32603 429 4', { limit: 256 }],
  RESULT_TOO_LARGE: [
    '-32603 200 1',
    { server: HOSTILE, tool: HOSTILE, bytes: 2, maxBytes: 1, isStructured: true },
  ],
  SERVER_BUSY: ['-32603 200 4', { server: HOSTILE, cause: { code: 'PROCESS_NOT_STARTED', error: HOSTILE } }],
  CLIENT_UNKNOWN: ['-32602 400 2', { name: HOSTILE, known: ['cursor', 'vscode'] }],
  CLIENT_ABSENT: ['-32603 500 3', { client: 'Cursor', folder: HOSTILE }],
  CLIENT_NEEDS_COMMAND: ['-32602 400 2', { client: 'Claude Desktop' }],
  ENTRY_EXISTS: ['-32602 409 2', { name: HOSTILE, path: '/mcp.json' }],
  NOTHING_FOUND: ['-32603 500 3', { places: [HOSTILE, '/mcp.json'], projects: ['/a'] }],
  NOTHING_TO_UNDO: ['-32602 400 2', { path: HOSTILE }],
  FILE_UNREADABLE: ['-32603 500 3', { path: HOSTILE, reason: 'there is no such file or folder' }],
  FILE_UNWRITABLE: ['-32603 500 3', { path: HOSTILE, reason: 'the disk is full' }],
  PACKAGE_MISSING: [
    '-32603 503 4',
    { name: 'assay-verify', version: '1.0.0', command: 'npm install', folder: HOSTILE },
  ],
  PACKAGE_INCOMPATIBLE: [
    '-32603 503 4',
    {
      name: 'assay-verify',
      version: '1.0.0',
      command: 'npm install',
      path: HOSTILE,
      installed: HOSTILE,
    },
  ],
  PACKAGE_NOT_FETCHED: ['-32603 502 4', { name: 'assay-verify', version: '1.0.0', reason: HOSTILE }],
  SERVER_UNKNOWN: ['-32602 404 2', { name: HOSTILE, known: ['linear'] }],
  INSTRUCTIONS_ABSENT: ['-32602 409 2', { server: HOSTILE }],
  AUTHORIZATION_NEEDED: ['-32603 200 4', { server: HOSTILE, subject: 'local' }],
  AUTHORIZATION_FAILED: ['-32603 500 1', { server: HOSTILE, reason: 'nobody signed in within 5 min' }],
  AUTHORIZATION_UNKNOWN: ['-32602 404 2', { server: HOSTILE, subject: HOSTILE }],
  KEY_DIFFERS: ['-32603 500 3', { key: '0123456789abcdef', keys: ['fedcba9876543210'] }],
  KEY_UNUSABLE: ['-32603 500 3', { place: 'ASSAY_ENCRYPTION_KEY', reason: 'it is too short' }],
  TOOLSET_UNKNOWN: ['-32602 404 2', { name: HOSTILE, known: [HOSTILE] }],
  TOOLSET_EXISTS: ['-32602 409 2', { name: HOSTILE }],
  TOOLSET_PROTECTED: ['-32602 200 2', { toolset: HOSTILE }],
  TOOLSETS_TOO_LARGE: ['-32602 200 2', { limitBytes: 3 }],
  TOOLSETS_FULL: ['-32602 200 2', { limit: 3 }],
  TOOLSET_FULL: ['-32602 200 2', { toolset: 'triage', limit: 3 }],
  TOOLSET_EQUIPPED: ['-32602 200 2', { toolset: HOSTILE, sessions: 2 }],
  TOOLSET_NOT_EQUIPPED: ['-32602 200 2', {}],
  TOOL_NOT_IN_TOOLSET: ['-32602 200 2', { tool: HOSTILE, toolset: 'triage' }],
  NOTE_EXISTS: ['-32602 409 2', { tool: HOSTILE, note: HOSTILE }],
  NOTE_ACCEPTED: ['-32602 409 2', { tool: HOSTILE, note: HOSTILE }],
  EXECUTE_OFF: ['-32600 403 2', {}],
  VERIFICATION_UNSUPPORTED: ['-32602 422 2', { server: HOSTILE, transport: 'http' }],
  VERIFICATION_RUNNING: ['-32602 409 4', { server: HOSTILE }],
  VERIFICATION_FAILED: ['-32603 502 4', { server: HOSTILE, reason: HOSTILE }],
  GATEWAY_EXISTS: ['-32602 409 2', { name: HOSTILE }],
  GATEWAY_INVALID: [
    '-32602 422 2',
    { name: HOSTILE, faults: [{ field: 'url', reason: 'this is not a URL.' }] },
  ],
  GATEWAY_READ_ONLY: ['-32602 409 2', { name: HOSTILE, field: 'trust' }],
  SERVER_CHANGED: ['-32602 409 2', { name: HOSTILE, target: HOSTILE }],
  TOOL_EXISTS: ['-32602 409 2', { name: HOSTILE }],
  TOOL_INVALID: ['-32602 422 2', { name: HOSTILE, faults: [{ field: 'url', reason: 'It is missing.' }] }],
  TOOL_READ_ONLY: ['-32602 409 2', { tool: HOSTILE, by: 'the config file' }],
  MODULE_EXISTS: ['-32602 409 2', { path: HOSTILE }],
  MODULE_INVALID: ['-32602 422 2', { faults: [{ field: 'module', reason: 'It is missing.' }] }],
  MODULE_UNKNOWN: ['-32602 404 2', { path: HOSTILE, known: [HOSTILE] }],
  SECRET_UNKNOWN: ['-32602 404 2', { name: HOSTILE, known: [HOSTILE] }],
  MODULE_READ_ONLY: ['-32602 409 2', { path: HOSTILE }],
  BUNDLE_INVALID: [
    '-32602 422 2',
    { fieldErrors: [{ at: HOSTILE, kind: 'invalid', reason: 'it is no list' }] },
  ],
  BUNDLE_LOCKED: ['-32602 422 2', {}],
  CALL_REFUSED: [
    '-32602 200 1',
    { tool: 'x', reasons: [{ code: 'rule', effect: 'refuse', rule: HOSTILE, because: HOSTILE }] },
  ],
  CALL_STOPPED: [
    '-32602 200 1',
    {
      stop: {
        target: { kind: 'tool', server: HOSTILE, tool: HOSTILE },
        by: HOSTILE,
        atMs: 0,
        reason: HOSTILE,
      },
    },
  ],
  STOP_UNKNOWN: ['-32602 200 2', { id: HOSTILE }],
  NOTICE_UNSENT: ['-32603 502 1', { setting: 'approvals.notify' }],
  STOPS_LIMIT: ['-32603 429 2', { limit: 1_000 }],
  APPROVAL_REQUIRED: [
    '-32602 200 1',
    {
      tool: HOSTILE,
      reasons: [{ code: 'destructive', origin: 'default' }],
      warnings: [
        {
          hint: 'openWorldHint',
          value: true,
          origin: 'declared_by_server',
          contradictedMs: 1_795_132_800_000,
        },
      ],
    },
  ],
  APPROVAL_DENIED: ['-32602 200 1', { tool: HOSTILE, reason: HOSTILE }],
  APPROVALS_FULL: ['-32603 200 4', { limit: 100 }],
  APPROVAL_UNKNOWN: ['-32602 200 2', { id: HOSTILE }],
  APPROVAL_CLOSED: ['-32602 200 2', { id: HOSTILE, state: 'expired' }],
  APPROVAL_OWN: ['-32602 200 2', { id: HOSTILE, subject: HOSTILE }],
  APPROVAL_SCOPE_INVALID: ['-32602 200 2', { id: HOSTILE, scopes: ['once', 'server'] }],
  APPROVAL_ONCE_ONLY: ['-32602 200 2', { id: HOSTILE, tool: HOSTILE }],
  TOOL_DISABLED: ['-32602 200 2', { tool: HOSTILE }],
  HINTS_CONTRADICT: ['-32602 422 2', { tool: HOSTILE }],
  TOOL_CHANGED: ['-32602 200 2', { tool: HOSTILE, toolset: 'triage' }],
  TOOL_DRIFTED: ['-32602 200 2', { tool: HOSTILE }],
  CALL_TOOL_REQUIRED: ['-32602 200 2', { tool: HOSTILE }],
  REF_UNKNOWN: ['-32602 200 2', { ref: HOSTILE, nearest: HOSTILE }],
  REF_AMBIGUOUS: ['-32602 200 2', { ref: HOSTILE, servers: [HOSTILE] }],
  REF_DISAGREES: ['-32602 200 2', { namespacedName: HOSTILE, refId: HOSTILE }],
  NOTE_UNKNOWN: ['-32602 404 2', { tool: HOSTILE, note: HOSTILE }],
  NOTES_FULL: ['-32602 200 2', { tool: HOSTILE, limit: 3 }],
  MODE_DIFFERS: ['-32602 200 2', { tool: HOSTILE, mode: 'normal', switch: 'enter-configuration-mode' }],
  BODY_NOT_JSON: ['-32700 400 2', { reason: 'it is empty' }],
  BODY_TOO_LARGE: ['-32600 413 2', { limitBytes: 1 }],
  BODY_INVALID: [
    '-32602 422 2',
    { fieldErrors: [{ at: HOSTILE, kind: 'unknown', reason: 'it is unknown' }] },
  ],
  QUERY_INVALID: [
    '-32602 400 2',
    { fieldErrors: [{ at: HOSTILE, kind: 'twice', reason: 'it stands twice' }] },
  ],
  PRECONDITION_FAILED: ['-32600 412 1', { etag: '"12ab"' }],
  SETTING_READ_ONLY: ['-32602 403 3', { name: HOSTILE, env: 'ASSAY_AUTH_ISSUER' }],
  SETTING_OVERRIDDEN: ['-32602 409 3', { name: HOSTILE, origin: 'environment', by: 'ASSAY_PORT' }],
};

/** Where REST differs from MCP for errors. */
const REST_STATUSES: Partial<Record<RefusalCode, number>> = { ARGUMENTS_INVALID: 422, SETTING_INVALID: 422 };

const EXAMPLES = Object.entries(REFUSALS).map(([code, [faces, details]]) => ({
  code,
  faces,
  refusal: { code, ...details } as Refusal,
}));

describe('a refusal', () => {
  it('has stable codes on every surface', () => {
    const faces = EXAMPLES.map(({ refusal }) => {
      const { rpc, http } = getReportedCodes(refusal);
      return `${refusal.code}: ${rpc} ${http} ${getExitCode(refusal)}`;
    });
    expect(faces).toEqual(EXAMPLES.map(({ code, faces }) => `${code}: ${faces}`));
  });

  it('is an HTTP error over REST even if MCP reports it within a result', () => {
    const statuses = EXAMPLES.map(({ refusal }) => getRestStatus(refusal.code));
    expect(statuses.filter((status) => status < 400 || status > 599)).toEqual([]);
    for (const { refusal } of EXAMPLES) {
      const { http } = getReportedCodes(refusal);
      const expected = REST_STATUSES[refusal.code] ?? (http === 200 ? 'another' : http);
      expect([refusal.code, getRestStatus(refusal.code)]).toEqual([
        refusal.code,
        expected === 'another' ? expect.any(Number) : expected,
      ]);
    }
  });

  it('has its code, its sentence and all its data in JSON-RPC, in both eras', () => {
    for (const { refusal } of EXAMPLES) {
      const { rpc } = getReportedCodes(refusal);
      const message = formatRefusal(refusal);
      const legacy = refusal.code === 'RESOURCE_UNKNOWN' ? -32002 : rpc; // its code changed in 2026-07-28
      const cause = 'cause' in refusal ? refusal.cause : undefined;
      const data = { ...refusal, ...(cause !== undefined && toCauseJson(cause)) };
      expect(toRpcError(refusal, false)).toEqual({ code: rpc, message, data });
      expect(toRpcError(refusal, true)).toEqual({ code: legacy, message, data });
    }
  });

  it('is described on one line, in which a peer’s text is quoted', () => {
    for (const { refusal } of EXAMPLES) {
      const sentence = formatRefusal(refusal);
      expect(sentence).toMatch(/^[A-Z][ -~\u2026]*\.$/);
      if (JSON.stringify(refusal).includes('Ignore')) expect(sentence).toContain(JSON.stringify(HOSTILE));
      else expect(sentence).not.toContain('Ignore');
    }
  });

  it('names what it concerns, why, and what to do', () => {
    expect(formatRefusal({ code: 'TOOL_UNKNOWN', name: 'git.psh' })).toBe(
      'Unknown tool "git.psh". "tools/list" or `assay tools` lists all tools.',
    );
    expect(formatRefusal({ code: 'NAME_AMBIGUOUS', name: 'a', candidates: ['b', 'c'] })).toBe(
      'The name "a" is ambiguous. Use one of: b, c.',
    );
    expect(
      formatRefusal({ code: 'SERVER_ENDED', server: 's', cause: { code: 'PROCESS_EXITED', exitCode: 7 } }),
    ).toBe('Server "s" ended before it responded: exited with code 7.');
  });

  it('says whether a call without a result can be repeated', () => {
    const lost: Refusal = { code: 'SERVER_ENDED', server: 's', cause: { code: 'CONNECTION_CLOSED' } };
    const start =
      'Server "s" ended before it responded: it closed the connection. It is unknown whether the call took effect.';
    const repeated = (times: number, mayRepeat: boolean): string =>
      formatRefusal({ ...lost, sent: { effect: 'unknown', times, mayRepeat } });
    expect(repeated(1, false)).toBe(
      `${start} It was not sent again, because the tool is not known to be idempotent: check its effect before you repeat it.`,
    );
    expect(repeated(1, true)).toBe(`${start} You can safely repeat it: the tool is read-only or idempotent.`);
    expect(repeated(4, true)).toBe(
      `${start} It was sent 4 times. You can safely repeat it: the tool is read-only or idempotent.`,
    );
  });

  it('quotes at most 200 characters of a peer', () => {
    const sentence = (name: string): string => formatRefusal({ code: 'PROMPT_UNKNOWN', name });
    const shown = (name: string): string => `Unknown prompt "${name}". "prompts/list" lists all prompts.`;
    expect(sentence('x'.repeat(200))).toBe(shown('x'.repeat(200)));
    expect(sentence('x'.repeat(201))).toBe(shown(`${'x'.repeat(200)}…`));
    expect(sentence(`${'x'.repeat(199)}🎉`)).toBe(shown(`${'x'.repeat(199)}…`)); // never half of a surrogate pair
    expect(sentence(`${'x'.repeat(198)}🎉y`)).toBe(shown(`${'x'.repeat(198)}🎉…`));
  });

  it('quotes at most 200 characters in its data, too, and at most 50 items', () => {
    const long = 'x'.repeat(300);
    const refusal: Refusal = { code: 'NAME_AMBIGUOUS', name: long, candidates: Array(60).fill(long) };
    const cut = `${'x'.repeat(200)}…`;
    expect(toRpcError(refusal, false)).toMatchObject({
      message: formatRefusal(refusal),
      data: { code: 'NAME_AMBIGUOUS', name: cut, candidates: Array(50).fill(cut) },
    });
  });

  it('escapes control characters in a peer’s text', () => {
    // 8-bit CSI, DEL, a line separator, and a direction override
    for (const control of ['\u009b', '\u007f', '\u2028', '\u202e']) {
      expect(formatRefusal({ code: 'PROMPT_UNKNOWN', name: control })).not.toContain(control);
      expect(
        formatRefusal({
          code: 'SERVER_ENDED',
          server: 's',
          cause: { code: 'PROCESS_NOT_STARTED', error: `a${control}b` },
        }),
      ).not.toContain(control);
    }
  });
});

describe('exit codes', () => {
  it('are stable', () => {
    expect(EXIT).toEqual({ done: 0, failed: 1, usage: 2, config: 3, unavailable: 4, toolError: 5 });
  });
});
