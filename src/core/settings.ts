// A table of data: one row for each setting.
import { audienceFault, issuerFault, jwksUriFault, publicUrlFault } from './auth-settings.ts';
import type { ProsePolicy } from './hints/drift.ts';
import type { LintLevel } from './hints/lint.ts';
import type { ModelRights } from './toolset.ts';
import { LIMIT_SETTINGS, type LimitSettings } from './limit-settings.ts';
import { level, text, whole, type SettingFacts } from './setting-kind.ts';

const MAX_TIMER_MS = 2 ** 31 - 1;

/** The effective value of every setting. */
export interface Settings extends LimitSettings {
  readonly 'mcp.access': 'open' | 'token';
  readonly 'mcp.sse': boolean;
  readonly 'auth.issuer': string;
  readonly 'auth.audience': string;
  readonly 'auth.jwksUri': string;
  readonly 'auth.publicUrl': string;
  readonly enableConfigToolsMenu: boolean;
  readonly 'modes.names': 'configuration-mode' | 'toolset-menu';
  readonly 'mode.scope': 'process' | 'session';
  readonly 'toolsets.changed': 'withhold' | 'show';
  readonly 'toolsets.modelsMayChange': ModelRights;
  readonly 'notes.review': 'auto' | 'always' | 'never';
  readonly 'servers.refreshMs': number;
  readonly 'drift.prose': ProsePolicy;
  readonly 'lint.contradiction': LintLevel;
  readonly 'lint.notBoolean': LintLevel;
  readonly 'lint.tellingWords': LintLevel;
  readonly 'lint.missingHints': LintLevel;
  readonly 'lint.hiddenText': LintLevel;
  readonly 'http.allowLoopback': boolean;
  readonly 'http.allowPrivate': boolean;
}

export type SettingKey = keyof Settings;

/** All settings; those named `limits.…` are in limit-settings.ts. A test compares them with docs/SETTINGS.md. */
export const SETTINGS: Readonly<Record<SettingKey, SettingFacts>> = {
  'mcp.access': {
    env: 'ASSAY_MCP_ACCESS',
    changedBy: 'startup',
    kind: { type: 'choice', of: ['open', 'token'], defaultValue: 'open' },
    about:
      'Whether the MCP endpoints on loopback are open or need a token. Beyond loopback, and where auth.issuer is set, they always need one.',
  },
  'mcp.sse': {
    env: 'ASSAY_MCP_SSE',
    changedBy: 'startup',
    kind: { type: 'flag', defaultValue: false },
    about:
      'Whether clients of the older transport HTTP+SSE (revision 2024-11-05) are served too: /sse is then what /mcp is for others, and so are /sse/all, /sse/servers/NAME and the like.',
  },
  'auth.issuer': {
    env: 'ASSAY_AUTH_ISSUER',
    changedBy: 'startup',
    kind: text('https URL; http on loopback', issuerFault),
    about:
      'The authorization server whose JSON Web Tokens are taken beside Assay’s own, exactly as their iss spells it.',
  },
  'auth.audience': {
    env: 'ASSAY_AUTH_AUDIENCE',
    changedBy: 'startup',
    kind: text('ASCII without spaces', audienceFault),
    about:
      'What stands in the aud of those tokens, for issuers that do not write the URL of the endpoint there. With it a token opens every endpoint that its scopes allow.',
  },
  'auth.jwksUri': {
    env: 'ASSAY_AUTH_JWKS_URI',
    changedBy: 'startup',
    kind: text('https URL; http on loopback', jwksUriFault),
    about: 'Where the keys of the issuer are. Without it they are found through the metadata of the issuer.',
  },
  'auth.publicUrl': {
    env: 'ASSAY_AUTH_PUBLIC_URL',
    changedBy: 'startup',
    kind: text('URL', publicUrlFault),
    about:
      'How clients reach Assay from outside, where that is not the address at which it listens; behind a proxy, the URL of the proxy.',
  },
  enableConfigToolsMenu: {
    env: 'ASSAY_ENABLE_CONFIG_TOOLS_MENU',
    changedBy: 'admin',
    otherEnv: 'HYPERTOOL_ENABLE_CONFIG_TOOLS_MENU',
    kind: { type: 'flag', defaultValue: true },
    about:
      'Whether configuration tools are shown in configuration mode alone. Otherwise there are no modes, and they stand beside the equipped toolset’s tools, or beside all tools where none is equipped.',
  },
  'modes.names': {
    env: 'ASSAY_MODES_NAMES',
    changedBy: 'admin',
    kind: { type: 'choice', of: ['configuration-mode', 'toolset-menu'], defaultValue: 'configuration-mode' },
    about:
      'What the tools that switch modes are called: enter-configuration-mode and exit-configuration-mode, or open-toolset-menu and close-toolset-menu.',
  },
  'mode.scope': {
    env: 'ASSAY_MODE_SCOPE',
    changedBy: 'admin',
    kind: { type: 'choice', of: ['process', 'session'], defaultValue: 'process' },
    about:
      'Which clients of /mcp share a mode. process: all of them. session: each HTTP client has its own, by its session or by its token and client name.',
  },
  'toolsets.changed': {
    env: 'ASSAY_TOOLSETS_CHANGED',
    changedBy: 'admin',
    kind: { type: 'choice', of: ['withhold', 'show'], defaultValue: 'withhold' },
    about:
      'What becomes of a tool that a toolset holds to one definition by its refId, when the definition changes.',
  },
  'toolsets.modelsMayChange': {
    env: 'ASSAY_TOOLSETS_MODELS_MAY_CHANGE',
    changedBy: 'admin',
    kind: { type: 'choice', of: ['none', 'own', 'all'], defaultValue: 'own' },
    about:
      'Which toolsets models may change, delete and annotate by the configuration tools. own: those that a model made, or that the subject of its token made. none: models build no toolsets either.',
  },
  'notes.review': {
    env: 'ASSAY_NOTES_REVIEW',
    changedBy: 'admin',
    kind: { type: 'choice', of: ['auto', 'always', 'never'], defaultValue: 'auto' },
    about:
      'Whether a note that a model wrote is kept from models until an operator accepts it. auto: where clients come with tokens.',
  },
  'servers.refreshMs': {
    env: 'ASSAY_SERVERS_REFRESH_MS',
    changedBy: 'admin',
    kind: whole(300_000, 0, MAX_TIMER_MS),
    about:
      'How often in ms the lists of servers are read again, beside when they say that these have changed; 0: never.',
  },
  'drift.prose': {
    env: 'ASSAY_DRIFT_PROSE',
    changedBy: 'admin',
    kind: { type: 'choice', of: ['flag', 'suspend'], defaultValue: 'flag' },
    about:
      'What happens when a server rewrites titles, descriptions, icons or the output schema of a tool and nothing else. flag: the change waits for a review. suspend: overrides that lower caution are suspended too, until it is reviewed.',
  },
  'lint.contradiction': {
    env: 'ASSAY_LINT_CONTRADICTION',
    changedBy: 'admin',
    kind: level('error'),
    about: 'How grave it is that a tool says both readOnlyHint and destructiveHint.',
  },
  'lint.notBoolean': {
    env: 'ASSAY_LINT_NOT_BOOLEAN',
    changedBy: 'admin',
    kind: level('error'),
    about: 'How grave it is that a hint is neither true nor false.',
  },
  'lint.tellingWords': {
    env: 'ASSAY_LINT_TELLING_WORDS',
    changedBy: 'admin',
    kind: level('warning'),
    about: 'How grave it is that the name or the description of a tool speaks against its hints.',
  },
  'lint.missingHints': {
    env: 'ASSAY_LINT_MISSING_HINTS',
    changedBy: 'admin',
    kind: level('warning'),
    about: 'How grave it is that a tool leaves hints out.',
  },
  'lint.hiddenText': {
    env: 'ASSAY_LINT_HIDDEN_TEXT',
    changedBy: 'admin',
    kind: level('warning'),
    about: 'How grave it is that a definition holds characters that people do not see and models read.',
  },
  'http.allowLoopback': {
    env: 'ASSAY_HTTP_ALLOW_LOOPBACK',
    changedBy: 'startup',
    kind: { type: 'flag', defaultValue: false },
    about:
      'Whether sources may lead to this machine where their URL is named by an operator of an Assay that listens beyond loopback, or by a document or server that is itself at no public address.',
  },
  'http.allowPrivate': {
    env: 'ASSAY_HTTP_ALLOW_PRIVATE',
    changedBy: 'startup',
    kind: { type: 'flag', defaultValue: false },
    about:
      'Whether sources may lead into private networks (10/8, 172.16/12, 192.168/16 and the like) where their URL is named by an operator, or by a document or server that is itself at no public address.',
  },
  ...LIMIT_SETTINGS,
};

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(SETTINGS, key);
}
