import type { Notice, Notifier } from '../../core/notices.ts';
import type { Result } from '@assay-mcp/kit/result';

/** Sends a notice once, within a bounded time. The error is a phrase without secrets. */
export type SendNotice = (notifier: Notifier, notice: Notice) => Promise<Result<undefined, string>>;
