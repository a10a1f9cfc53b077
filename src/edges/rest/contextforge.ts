import * as z from 'zod';
import { isJsonObject } from '../../core/json-object.ts';
import { err, ok, type Result } from '../../core/result.ts';

/** Fields common to all of ContextForge's models that have no effect here. */
const COMMON: readonly string[] = [
  ...['id', 'slug', 'team', 'teamId', 'ownerEmail', 'visibility', 'version'],
  ...['createdAt', 'createdBy', 'createdFromIp', 'createdVia', 'createdUserAgent'],
  ...['updatedAt', 'modifiedBy', 'modifiedFromIp', 'modifiedVia', 'modifiedUserAgent'],
  ...['importBatchId', 'federationSource', 'reachable', 'metrics'],
];

export const IGNORED_OF_GATEWAYS: ReadonlySet<string> = new Set([
  ...COMMON,
  ...['description', 'capabilities', 'gatewayMode', 'refreshIntervalSeconds', 'passthroughHeaders'],
  ...['oneTimeAuth', 'caCertificate', 'caCertificateSig', 'signingAlgorithm'],
  ...['status', 'statusMessage', 'registrationAttempts', 'nextRetryAt', 'lastError', 'lastSeen'],
  ...['lastRefreshAt', 'toolCount', 'promptCount', 'resourceCount', 'skippedTools'],
]);

export const IGNORED_OF_TOOLS: ReadonlySet<string> = new Set([
  ...COMMON,
  ...['displayName', 'customName', 'customNameSlug', 'gatewaySlug', 'gatewayId', 'grpcServiceId'],
  ...['originalName', 'originalDescription', 'integrationType', 'extensionMetadata', 'jsonpathFilter'],
  ...['deprecated', 'executionCount', 'baseUrl', 'pathTemplate', 'exposePassthrough', 'allowlist'],
  ...['pluginChainPre', 'pluginChainPost'],
]);

type Text = z.ZodOptional<z.ZodNullable<z.ZodString>>;

const TEXT: Text = z.string().nullable().optional();

interface AuthFields {
  readonly authType: Text;
  readonly authToken: Text;
  readonly authUsername: Text;
  readonly authPassword: Text;
  readonly authHeaderKey: Text;
  readonly authHeaderValue: Text;
  readonly authHeaders: z.ZodOptional<
    z.ZodNullable<z.ZodArray<z.ZodObject<{ key: z.ZodString; value: z.ZodString }>>>
  >;
}

/** ContextForge's fields for credentials, which become headers. */
export const AUTH_FIELDS: AuthFields = {
  authType: TEXT.meta({
    description:
      'As in ContextForge: bearer, basic or authheaders, with the fields below; the same as `headers`.',
  }),
  authToken: TEXT,
  authUsername: TEXT,
  authPassword: TEXT,
  authHeaderKey: TEXT,
  authHeaderValue: TEXT,
  authHeaders: z
    .array(z.object({ key: z.string(), value: z.string() }))
    .nullable()
    .optional(),
};

type Texts = Readonly<Record<string, string>>;

interface WithAuth {
  readonly authType?: string | null | undefined;
  readonly authToken?: string | null | undefined;
  readonly authUsername?: string | null | undefined;
  readonly authPassword?: string | null | undefined;
  readonly authHeaderKey?: string | null | undefined;
  readonly authHeaderValue?: string | null | undefined;
  readonly authHeaders?: readonly { readonly key: string; readonly value: string }[] | null | undefined;
}

export interface AuthFault {
  readonly field: keyof WithAuth;
  readonly reason: string;
}

/** Turns the fields for credentials into headers. */
export function moveAuthToHeaders<T extends WithAuth & { readonly headers?: unknown }>(
  fields: T,
): Result<Omit<T, keyof WithAuth>, AuthFault> {
  const auth = authHeadersOf(fields);
  if (!auth.ok) return auth;
  const rest = Object.fromEntries(
    Object.entries(fields).filter(([name]) => !Object.hasOwn(AUTH_FIELDS, name)),
  );
  const headers =
    auth.value === undefined
      ? {}
      : { headers: { ...(isJsonObject(fields.headers) && fields.headers), ...auth.value } };
  return ok({ ...rest, ...headers } as Omit<T, keyof WithAuth>); // The other members are unchanged.
}

function authHeadersOf(fields: WithAuth): Result<Texts | undefined, AuthFault> {
  const { authType, authToken, authUsername, authPassword, authHeaderKey, authHeaderValue } = fields;
  switch (authType ?? '') {
    case '':
    case 'none':
      return unused(fields);
    case 'bearer':
      return isText(authToken) ? ok({ Authorization: `Bearer ${authToken}` }) : missing('authToken');
    case 'basic': {
      if (!isText(authUsername)) return missing('authUsername');
      if (!isText(authPassword)) return missing('authPassword');
      const pair = Buffer.from(`${authUsername}:${authPassword}`).toString('base64');
      return ok({ Authorization: `Basic ${pair}` });
    }
    case 'authheaders': {
      const { authHeaders } = fields;
      if (authHeaders !== undefined && authHeaders !== null && authHeaders.length > 0)
        return ok(Object.fromEntries(authHeaders.map(({ key, value }) => [key, value])));
      if (!isText(authHeaderKey)) return missing('authHeaders');
      return isText(authHeaderValue) ? ok({ [authHeaderKey]: authHeaderValue }) : missing('authHeaderValue');
    }
    default:
      return err({
        field: 'authType',
        reason:
          'it must be bearer, basic, authheaders or none; for OAuth leave it out and run `assay auth NAME`',
      });
  }
}

const CREDENTIALS = ['authToken', 'authPassword', 'authHeaderValue'] as const;

function unused(fields: WithAuth): Result<undefined, AuthFault> {
  const field = CREDENTIALS.find((name) => isText(fields[name]));
  return field === undefined ? ok(undefined) : err({ field, reason: 'it has no effect without authType' });
}

function missing(field: keyof WithAuth): Result<never, AuthFault> {
  return err({ field, reason: 'it is missing' });
}

function isText(text: string | null | undefined): text is string {
  return text !== undefined && text !== null && text !== '';
}
