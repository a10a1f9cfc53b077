// A table of data: one row for each setting.
import { findAllowedOriginsFault } from './allowed-origins.ts';
import { findAudienceFault, findIssuerFault, findJwksUriFault, findPublicUrlFault } from './auth-settings.ts';
import type { ProsePolicy } from './hints/drift.ts';
import type { LintLevel } from './hints/lint.ts';
import type { ModelRights } from './toolset.ts';
import { ACTIVITY_SETTINGS, type ActivitySettings } from './activity/activity-settings.ts';
import { LIMIT_SETTINGS, type LimitSettings } from './limit-settings.ts';
import { POLICY_SETTINGS, type PolicySettings } from './policy/policy-settings.ts';
import { findNotifierFault } from './notices.ts';
import type { SettingValue } from './record.ts';
import { createLevelKind, createTextKind, createWholeKind, type SettingFacts } from './setting-kind.ts';
import { MAX_TIMER_MS } from '@assay-mcp/kit/timer';

const DAY_MS = 86_400_000;

/** The effective value of every setting. */
export interface Settings extends ActivitySettings, LimitSettings, PolicySettings {
  readonly 'mcp.access': 'open' | 'token';
  readonly 'mcp.sse': boolean;
  readonly 'mcp.allowedOrigins': string;
  readonly 'auth.issuer': string;
  readonly 'auth.audience': string;
  readonly 'auth.jwksUri': string;
  readonly 'auth.publicUrl': string;
  readonly enableConfigToolsMenu: boolean;
  readonly 'modes.names': 'configuration-mode' | 'toolset-menu';
  readonly 'mode.scope': 'auto' | 'process' | 'session';
  readonly 'toolsets.changed': 'withhold' | 'show';
  readonly 'toolsets.modelsMayChange': ModelRights;
  readonly 'notes.review': 'auto' | 'always' | 'never';
  readonly 'background.idleMs': number;
  readonly 'servers.refreshMs': number;
  readonly 'servers.idleMs': number;
  readonly 'cache.ttlMs': number;
  readonly 'cache.maxBytes': number;
  readonly 'drift.prose': ProsePolicy;
  readonly 'lint.contradiction': LintLevel;
  readonly 'lint.notBoolean': LintLevel;
  readonly 'lint.tellingWords': LintLevel;
  readonly 'lint.missingHints': LintLevel;
  readonly 'lint.hiddenText': LintLevel;
  readonly 'http.allowLoopback': boolean;
  readonly 'http.allowPrivate': boolean;
  readonly 'log.events': string;
  readonly 'approvals.notify': string;
  readonly 'overrides.notify': string;
  readonly 'servers.notify': string;
}

export type SettingKey = keyof Settings;

/** All settings; those named `limits.…` are in limit-settings.ts, those about approvals in policy-settings.ts. A test compares them with docs/SETTINGS.md. */
export const SETTINGS: Readonly<Record<SettingKey, SettingFacts>> = {
  'mcp.access': {
    env: 'ASSAY_MCP_ACCESS',
    changedBy: 'startup',
    kind: { type: 'choice', of: ['open', 'token'], defaultValue: 'open' },
    about:
      'Whether MCP endpoints on loopback are open or require a token. Beyond loopback, and if auth.issuer is set, a token is always required.',
  },
  'mcp.sse': {
    env: 'ASSAY_MCP_SSE',
    changedBy: 'startup',
    kind: { type: 'flag', defaultValue: false },
    about:
      'Whether to also serve clients of the older HTTP+SSE transport (revision 2024-11-05). Their endpoints start with /sse instead of /mcp: /sse, /sse/all, /sse/servers/NAME and so on.',
  },
  'mcp.allowedOrigins': {
    env: 'ASSAY_MCP_ALLOWED_ORIGINS',
    changedBy: 'startup',
    kind: createTextKind('https origins, separated by commas; http on loopback', findAllowedOriginsFault),
    about:
      'Origins of web pages whose scripts may call the MCP endpoints (CORS), such as https://app.example. Each is exact: no patterns. Their requests need a token, on loopback too.',
  },
  'auth.issuer': {
    env: 'ASSAY_AUTH_ISSUER',
    changedBy: 'startup',
    kind: createTextKind('https URL; http on loopback', findIssuerFault),
    about:
      'Authorization server whose JSON Web Tokens are accepted in addition to Assay’s own tokens. Must match the iss claim exactly.',
  },
  'auth.audience': {
    env: 'ASSAY_AUTH_AUDIENCE',
    changedBy: 'startup',
    kind: createTextKind('ASCII without spaces', findAudienceFault),
    about:
      'Expected aud claim of those tokens, for issuers that do not put the endpoint URL there. A token with this audience is valid at every endpoint that its scopes allow.',
  },
  'auth.jwksUri': {
    env: 'ASSAY_AUTH_JWKS_URI',
    changedBy: 'startup',
    kind: createTextKind('https URL; http on loopback', findJwksUriFault),
    about: 'URL of the issuer’s signing keys (JWKS). Default: discovered from the issuer’s metadata.',
  },
  'auth.publicUrl': {
    env: 'ASSAY_AUTH_PUBLIC_URL',
    changedBy: 'startup',
    kind: createTextKind('URL', findPublicUrlFault),
    about:
      'URL at which clients reach Assay, if it differs from the listening address; behind a reverse proxy, the URL of the proxy.',
  },
  enableConfigToolsMenu: {
    env: 'ASSAY_ENABLE_CONFIG_TOOLS_MENU',
    changedBy: 'admin',
    otherEnv: 'HYPERTOOL_ENABLE_CONFIG_TOOLS_MENU',
    kind: { type: 'flag', defaultValue: true },
    about:
      'Whether configuration tools are shown only in configuration mode. If false, there are no modes: configuration tools are always listed, next to the tools of the equipped toolset, or next to all tools if no toolset is equipped.',
  },
  'modes.names': {
    env: 'ASSAY_MODES_NAMES',
    changedBy: 'admin',
    kind: { type: 'choice', of: ['configuration-mode', 'toolset-menu'], defaultValue: 'configuration-mode' },
    about:
      'Names of the tools that switch modes: enter-configuration-mode and exit-configuration-mode, or open-toolset-menu and close-toolset-menu.',
  },
  'mode.scope': {
    env: 'ASSAY_MODE_SCOPE',
    changedBy: 'admin',
    kind: { type: 'choice', of: ['auto', 'process', 'session'], defaultValue: 'auto' },
    about:
      'Which clients share a mode and the equipped toolset. auto: all clients of /mcp if no tokens are needed; clients with tokens have their own, and so cannot change what others see. process: the same as auto. session: each client has its own in any case. A client is identified by its session, or by its token and client name.',
  },
  'toolsets.changed': {
    env: 'ASSAY_TOOLSETS_CHANGED',
    changedBy: 'admin',
    kind: { type: 'choice', of: ['withhold', 'show'], defaultValue: 'withhold' },
    about:
      'Whether to withhold or keep showing a tool that a toolset pins by refId after its definition has changed.',
  },
  'toolsets.modelsMayChange': {
    env: 'ASSAY_TOOLSETS_MODELS_MAY_CHANGE',
    changedBy: 'admin',
    kind: { type: 'choice', of: ['none', 'own', 'all'], defaultValue: 'own' },
    about:
      'Which toolsets models may change, delete and annotate with the configuration tools. own: those created by a model or by the subject of its token. none: models cannot create toolsets either.',
  },
  'notes.review': {
    env: 'ASSAY_NOTES_REVIEW',
    changedBy: 'admin',
    kind: { type: 'choice', of: ['auto', 'always', 'never'], defaultValue: 'auto' },
    about:
      'Whether notes written by models are withheld from models until an operator accepts them. auto: yes if clients use tokens. A note by a model whose caller has seen untrusted content always waits.',
  },
  'background.idleMs': {
    env: 'ASSAY_BACKGROUND_IDLE_MS',
    changedBy: 'startup',
    kind: createWholeKind(900_000, 0, MAX_TIMER_MS),
    about:
      'Time in ms without clients and requests after which a gateway ends that was started in the background. 0: never.',
  },
  'servers.refreshMs': {
    env: 'ASSAY_SERVERS_REFRESH_MS',
    changedBy: 'admin',
    kind: createWholeKind(300_000, 0, MAX_TIMER_MS),
    about:
      'Interval in ms for reading the lists of running servers again, in addition to when a server reports a change. 0: never.',
  },
  'servers.idleMs': {
    env: 'ASSAY_SERVERS_IDLE_MS',
    changedBy: 'admin',
    kind: createWholeKind(300_000, 0, MAX_TIMER_MS),
    about:
      'After how many ms without use the process of a server is stopped; the next request that needs it starts it again. A server whose lists are known from before is not started before that either. 0: server processes start with Assay and always run.',
  },
  'cache.ttlMs': {
    env: 'ASSAY_CACHE_TTL_MS',
    changedBy: 'admin',
    kind: createWholeKind(0, 0, DAY_MS),
    about:
      'How long in ms results are used again for the same call of the same subject, for tools that are read-only, idempotent and closed-world by overrides or trusted hints. 0: never. A tool may have a time of its own.',
  },
  'cache.maxBytes': {
    env: 'ASSAY_CACHE_MAX_BYTES',
    changedBy: 'admin',
    kind: createWholeKind(32 * 1024 * 1024, 0, 9_999_999_999),
    about: 'Maximum size in bytes of all cached results; the least recently used are dropped.',
  },
  'drift.prose': {
    env: 'ASSAY_DRIFT_PROSE',
    changedBy: 'admin',
    kind: { type: 'choice', of: ['flag', 'suspend'], defaultValue: 'flag' },
    about:
      'What happens when a server changes only titles, descriptions, icons or the output schema of a tool. flag: the change is marked for review. suspend: overrides that lower caution are also suspended until the change is reviewed.',
  },
  'lint.contradiction': {
    env: 'ASSAY_LINT_CONTRADICTION',
    changedBy: 'admin',
    kind: createLevelKind('error'),
    about: 'Severity of a tool that sets both readOnlyHint and destructiveHint.',
  },
  'lint.notBoolean': {
    env: 'ASSAY_LINT_NOT_BOOLEAN',
    changedBy: 'admin',
    kind: createLevelKind('error'),
    about: 'Severity of a hint that is neither true nor false.',
  },
  'lint.tellingWords': {
    env: 'ASSAY_LINT_TELLING_WORDS',
    changedBy: 'admin',
    kind: createLevelKind('warning'),
    about: 'Severity of a tool whose name or description contradicts its hints.',
  },
  'lint.missingHints': {
    env: 'ASSAY_LINT_MISSING_HINTS',
    changedBy: 'admin',
    kind: createLevelKind('warning'),
    about: 'Severity of a tool with missing hints.',
  },
  'lint.hiddenText': {
    env: 'ASSAY_LINT_HIDDEN_TEXT',
    changedBy: 'admin',
    kind: createLevelKind('warning'),
    about: 'Severity of a definition with characters that are invisible to people but read by models.',
  },
  'http.allowLoopback': {
    env: 'ASSAY_HTTP_ALLOW_LOOPBACK',
    changedBy: 'startup',
    kind: { type: 'flag', defaultValue: false },
    about:
      'Whether sources may connect to this machine if the URL comes from an operator of an Assay that listens beyond loopback, or from a document or server that itself has no public address.',
  },
  'http.allowPrivate': {
    env: 'ASSAY_HTTP_ALLOW_PRIVATE',
    changedBy: 'startup',
    kind: { type: 'flag', defaultValue: false },
    about:
      'Whether sources may connect to private networks (10/8, 172.16/12, 192.168/16 and so on) if the URL comes from an operator, or from a document or server that itself has no public address.',
  },
  'log.events': {
    env: 'ASSAY_LOG_EVENTS',
    changedBy: 'startup',
    kind: createTextKind('stderr, otlp or the absolute path of a file', findEventsFault),
    about:
      'Where serve and stdio write events for a SIEM as lines of JSON: HTTP requests, changes and decisions on calls. otlp: to the endpoint for logs, as log records.',
  },
  'approvals.notify': createNoticeSetting('ASSAY_APPROVALS_NOTIFY', 'calls that wait for approval'),
  'overrides.notify': createNoticeSetting(
    'ASSAY_OVERRIDES_NOTIFY',
    'overrides that are suspended until a changed definition is reviewed',
  ),
  'servers.notify': createNoticeSetting(
    'ASSAY_SERVERS_NOTIFY',
    'servers that are down for 5 minutes, and when they are up again',
  ),
  ...POLICY_SETTINGS,
  ...ACTIVITY_SETTINGS,
  ...LIMIT_SETTINGS,
};

function findEventsFault(text: string): string | undefined {
  if (text === 'stderr' || text === 'otlp') return undefined;
  const isPath = /^(?:\/|[A-Za-z]:[\\/])/.test(text) && !text.includes('\0');
  return isPath ? undefined : 'it must be stderr, otlp or the absolute path of a file';
}

/** Whoever may set it runs a program, or sends requests: only who starts Assay. */
function createNoticeSetting(env: string, what: string): SettingFacts {
  return {
    env,
    changedBy: 'startup',
    isSecret: true,
    kind: createTextKind('URL or command', findNotifierFault),
    about: `Where notices about ${what} are sent: a URL that receives JSON by POST, or a program that gets it on stdin. At most one a minute.`,
  };
}

/** A value as it is shown. */
export function toShownSetting(key: SettingKey, value: SettingValue): SettingValue {
  return SETTINGS[key].isSecret === true && value !== '' ? '[masked]' : value;
}

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(SETTINGS, key);
}
