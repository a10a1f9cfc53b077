import type { Result } from '../../../core/result.ts';
import type { HttpAnswer, HttpCall } from './http-call.ts';

/** Sends requests only to where the operator lets them go. */
export interface HttpPort {
  /** The error is a sentence for a model or an operator; it holds no secret, and names the setting where one forbids it. */
  send(call: HttpCall): Promise<Result<HttpAnswer, string>>;
  close(): Promise<void>;
}
