/** A call as recorded, or a gap in the record. Texts from servers and clients are as sent. */
export interface RecordedCall {
  readonly id: number;
  /** dropped: `count` calls since `since` could not be recorded. unreadable: the entry was changed, and has only `id` and `chain`. */
  readonly kind: 'call' | 'dropped' | 'unreadable';
  readonly at?: string;
  readonly subject?: string;
  readonly client?: { readonly name?: string; readonly version?: string };
  readonly endpoint?: string;
  readonly labels?: readonly string[];
  readonly tool?: { readonly id?: string; readonly publicName: string; readonly namespacedName?: string };
  readonly hints?: Readonly<Record<string, { readonly value: boolean; readonly reason: string }>>;
  readonly decision?: {
    readonly kind: 'allow' | 'ask' | 'refuse';
    readonly per?: 'call' | 'session' | 'server';
    readonly reasons: readonly { readonly text: string }[];
  };
  /** Assay would have asked, but the client confirms calls. */
  readonly isAsked?: false;
  readonly approval?: { readonly by: string; readonly scope: string };
  /** ok, tool_error, error, input_required, or the code of a refusal. */
  readonly outcome?: string;
  readonly durationMs?: number;
  readonly arguments?: { readonly bytes: number; readonly text: string; readonly isShortened: boolean };
  readonly count?: number;
  readonly since?: string;
}

export interface CallPage {
  readonly calls: readonly RecordedCall[];
  readonly nextCursor?: string;
}

export interface CallSlot {
  readonly calls: number;
  readonly errors: number;
  readonly refused: number;
}

/** Numbers of calls, in slots of equal length; the last one ends now. */
export interface CallCounts {
  readonly since: string;
  readonly slotMs: number;
  readonly slots: readonly CallSlot[];
}
