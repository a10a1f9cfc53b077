import type { ChainReport } from '../../core/activity/call-chain.ts';
import type { StoreFacts } from '../../core/check-machine.ts';
import type { AppOptions } from '../../core/command-options.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { RekeyReport } from '../../gateway/services/store/rekey.ts';

export interface BackupOptions extends AppOptions {
  /** Whether an existing file is replaced. */
  readonly replaces: boolean;
}

/** The store is in PostgreSQL, whose own tools save it. */
interface OtherTools {
  readonly kind: 'database';
  readonly commands: readonly (readonly string[])[];
}

interface BackupFile {
  readonly kind: 'file';
  readonly path: string;
  readonly bytes: number;
  /** Versions of the migrations that its tables have. */
  readonly migrations: readonly number[];
}

export type StoreBackup = BackupFile | OtherTools;
/** `keptAs`: the store that was there before. */
export type StoreRestore = (BackupFile & { readonly keptAs: string | undefined }) | OtherTools;

/** Something encrypted in the store. */
export interface SealedRow {
  readonly kind: string;
  readonly id: string;
}

export interface StoreCheck extends Pick<StoreFacts, 'kind' | 'place' | 'fault'> {
  readonly state: StoreFacts['is'];
  /** Absent unless the store is whole, as are the members below. */
  readonly migrations?: readonly number[];
  readonly keys?: {
    readonly sealed: number;
    /** Number of rows that the encryption keys of this home do not decrypt. */
    readonly unopened: number;
    readonly unopenedRows: readonly SealedRow[];
  };
  /** The hash chains of the recorded calls. */
  readonly calls?: ChainReport;
}

export interface StorePorts {
  backUpStore(file: string, options: BackupOptions): Promise<Result<StoreBackup, Refusal>>;
  restoreStore(file: string, options: AppOptions): Promise<Result<StoreRestore, Refusal>>;
  /** Reads everything and changes nothing. */
  checkStore(options: AppOptions): Promise<Result<StoreCheck, Refusal>>;
  /** Encrypts the store with the newest key, also while Assay runs. KEY_UNUSABLE */
  rekeyStore(
    options: AppOptions,
    onProgress: (done: number, total: number) => void,
  ): Promise<Result<RekeyReport, Refusal>>;
}
