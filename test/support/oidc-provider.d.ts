/** The package has no types; these are the parts that the tests use. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Found {
    readonly scope: string | undefined;
    readonly accountId: string;
    readonly grantId: string;
    readonly aud: string | readonly string[] | undefined;
    destroy(): Promise<void>;
  }

  export class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
    on(event: string, listener: (...args: readonly unknown[]) => void): void;
    readonly AccessToken: {
      find(token: string): Promise<Found | undefined>;
      revokeByGrantId(grantId: string): Promise<void>;
    };
    readonly RefreshToken: { revokeByGrantId(grantId: string): Promise<void> };
  }
}
