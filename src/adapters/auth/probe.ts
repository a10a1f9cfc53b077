import { Unfetched, type CarefulFetch } from '../../platform/careful-fetch.ts';
import { bearerChallenge, type BearerChallenge } from '../../protocol/challenge.ts';
import { ownRequest } from '../../protocol/message.ts';

/** Whether a server turns away who comes without credentials, and what it says to it. */
export interface Probed {
  readonly isRefused: boolean;
  readonly challenge: BearerChallenge | undefined;
}

/** Comes to a server without credentials. One that cannot be reached has turned nobody away. */
export async function probeWithout(url: URL, fetching: CarefulFetch): Promise<Probed> {
  // Some let everybody shake hands; and nothing may be left behind there, such as a session.
  const { bytes } = ownRequest('tools/list');
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  try {
    const response = await fetching.fetch(url, { method: 'POST', headers, body: bytes.toString() });
    const challenge = bearerChallenge(response.headers.get('www-authenticate') ?? undefined);
    return { isRefused: response.status === 401, challenge };
  } catch (error) {
    if (error instanceof Unfetched) return { isRefused: false, challenge: undefined };
    throw error;
  }
}
