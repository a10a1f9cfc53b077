import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server as HttpServer, ServerResponse } from 'node:http';
import { truncateText } from '@assay-mcp/kit/shorten';
import type { Identity } from '../../core/subject.ts';
import type { EventLog } from '../../gateway/ports/event-log.ts';

const MAX_PATH_LENGTH = 1_024;
const MAX_METHOD_LENGTH = 32;

/** Reports each HTTP request when its response has ended. */
export class AccessEvents {
  readonly #events: Pick<EventLog, 'access'>;
  readonly #subjects = new WeakMap<ServerResponse, string>();

  constructor(events: Pick<EventLog, 'access'>) {
    this.#events = events;
  }

  /** `subject`: of all requests of the server, if it admits one subject only. */
  watch(server: HttpServer, subject?: string): void {
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
      this.#begin(request, response, subject),
    );
  }

  /** Tells whose request it is. */
  readonly identify = (response: ServerResponse, { subject }: Pick<Identity, 'subject'>): void => {
    this.#subjects.set(response, subject);
  };

  #begin(request: IncomingMessage, response: ServerResponse, owner: string | undefined): void {
    const { socket, method = '', url = '' } = request;
    const beganMs = performance.now();
    const sentBefore = socket.bytesWritten;
    const client = owner === undefined ? (socket.remoteAddress ?? '') : 'local';
    // The target is normalized later.
    const path = truncateText(url.replace(/[?#].*$/s, ''), MAX_PATH_LENGTH);
    response.once('close', () => {
      const subject = this.#subjects.get(response) ?? owner;
      this.#events.access({
        requestId: randomUUID(),
        client,
        ...(subject !== undefined && { subject: truncateText(subject, MAX_PATH_LENGTH) }),
        method: method.slice(0, MAX_METHOD_LENGTH),
        path,
        status: response.statusCode,
        bytes: Math.max(0, socket.bytesWritten - sentBefore),
        durationMs: Math.round((performance.now() - beganMs) * 10) / 10,
        ...(!response.writableFinished && { isAborted: true as const }),
      });
    });
  }
}
