import type { UrlChooser } from '../../../core/reach.ts';

/** One HTTP request that a tool makes. */
export interface HttpCall {
  /** In capitals. */
  readonly method: string;
  readonly url: URL;
  readonly chosenBy: UrlChooser;
  /** How sentences call `url`; absent: by its origin and path. */
  readonly shownUrl?: string | undefined;
  /** Names and values; a value holds no line break. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string | Buffer | undefined;
  /** Names of headers that must not go to another origin than that of `url`, beside Authorization and Cookie. */
  readonly secretHeaders?: readonly string[] | undefined;
  /** Most bytes of the answer that are read. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  /** Whether there is more of the body than `maxBytes`. */
  readonly isCut: boolean;
  /** Whether it came from a public address, or by way of one. */
  readonly isPublic: boolean;
}
