import { randomBytes } from 'node:crypto';
import {
  createRequestStateCodec,
  type RequestStateCodec,
  type ServerContext,
} from '@modelcontextprotocol/server';

/** How far a call that asks has come. */
export interface CallState {
  readonly step: number;
}

const codec: RequestStateCodec<CallState> = createRequestStateCodec<CallState>({ key: randomBytes(32) });

export function sealState(state: CallState): Promise<string> {
  return codec.mint(state);
}

/** Rejects states that this process did not seal. */
export function verifyState(sealed: string, context: ServerContext): Promise<CallState> {
  return codec.verify(sealed, context);
}
