import { Duplex } from 'node:stream';
import { openTunnel } from '@assay-mcp/kit/platform/tunnel';
import { CHOSEN_BY_OPERATOR } from '@assay-mcp/kit/reach';

/** What `pg` needs of a socket, through an HTTP proxy. It becomes a connection by `connect`, as a socket does. */
export class TunnelStream extends Duplex {
  readonly #proxy: string;
  readonly #limitMs: number;
  #socket: Awaited<ReturnType<typeof openTunnel>> | undefined;

  constructor(proxy: string, limitMs: number) {
    super();
    this.#proxy = proxy;
    this.#limitMs = limitMs;
  }

  connect(port: number, host: string): this {
    const proxy = { url: new URL(this.#proxy), reaches: CHOSEN_BY_OPERATOR };
    openTunnel(proxy, { host, port }, { limitMs: this.#limitMs }).then(
      (socket) => {
        if (this.destroyed) return void socket.destroy();
        this.#socket = socket;
        socket.on('data', (chunk) => {
          if (!this.push(chunk)) socket.pause();
        });
        socket.once('end', () => this.push(null));
        socket.once('error', (error) => this.destroy(error));
        socket.once('close', () => this.destroy());
        this.emit('connect');
      },
      (error: unknown) => this.destroy(error instanceof Error ? error : new Error(String(error))),
    );
    return this;
  }

  override _read(): void {
    this.#socket?.resume();
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket?.write(chunk, done);
  }

  override _final(done: () => void): void {
    if (this.#socket === undefined) done();
    else this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket?.destroy();
    done(error);
  }

  setNoDelay(): this {
    this.#socket?.setNoDelay();
    return this;
  }

  setKeepAlive(isOn?: boolean, delayMs?: number): this {
    this.#socket?.setKeepAlive(isOn, delayMs);
    return this;
  }

  ref(): this {
    this.#socket?.ref();
    return this;
  }

  unref(): this {
    this.#socket?.unref();
    return this;
  }
}
