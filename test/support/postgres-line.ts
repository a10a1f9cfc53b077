import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { endLater } from './endings.ts';

/** A TCP connection to a PostgreSQL server that can be disturbed. It reads the protocol only as far as needed. */
export interface PostgresLine {
  /** The URL of the same database through this line. */
  readonly url: string;
  /** Stops forwarding on these connections, old and new ones, and leaves them open. */
  stall(which: Which): void;
  /** Closes these connections, and new ones as soon as they are recognized. */
  cut(which: Which): void;
  /**
   * Cuts the connection of the next transaction after its COMMIT is carried out, before the client learns that.
   * `statement`: of the next one that sends this text.
   */
  cutAfterCommit(statement?: string): Promise<void>;
  /** Cuts the connection of the next transaction instead of forwarding its COMMIT. */
  cutBeforeCommit(): Promise<void>;
  /** Works normally again; stalled connections are closed. */
  restore(): void;
}

/** `listener`: only the connection that receives notifications. */
type Which = 'listener' | 'all';

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  isListener: boolean;
  /** Whether it has sent the statement since the last COMMIT. */
  isMeant: boolean;
  isCommitting: boolean;
}

export async function openPostgresLine(databaseUrl: string): Promise<PostgresLine> {
  const target = new URL(databaseUrl);
  const host = decodeURIComponent(target.hostname);
  const pairs = new Set<Pair>();
  let fault: { readonly kind: 'stall' | 'cut'; readonly which: Which } | undefined;
  let committed: (() => void) | undefined;
  let statement = '';
  let dropped: (() => void) | undefined;

  const isHit = ({ isListener }: Pair): boolean =>
    fault !== undefined && (fault.which === 'all' || isListener);
  const end = (pair: Pair): void => {
    pairs.delete(pair);
    pair.near.destroy();
    pair.far.destroy();
  };
  /** True if the bytes must not be forwarded. */
  const disturb = (pair: Pair): boolean => {
    if (!isHit(pair)) return false;
    if (fault?.kind === 'cut') end(pair);
    return true;
  };
  const server = createServer((near) => {
    const port = target.port === '' ? 5432 : Number(target.port);
    const far = host.startsWith('/')
      ? connect(join(host, `.s.PGSQL.${port}`))
      : connect(port, host === '' ? '127.0.0.1' : host);
    const pair: Pair = { near, far, isListener: false, isMeant: false, isCommitting: false };
    pairs.add(pair);
    near.on('data', (bytes: Buffer) => {
      const text = bytes.toString('latin1');
      pair.isListener ||= text.includes('listen assay');
      const isCommit = /Q....commit\0/is.test(text);
      pair.isMeant ||= committed !== undefined && text.includes(statement);
      pair.isCommitting = pair.isMeant && isCommit;
      if (isCommit) pair.isMeant = false;
      if (dropped !== undefined && isCommit) {
        end(pair);
        dropped();
        dropped = undefined;
      } else if (!disturb(pair)) far.write(bytes);
    });
    far.on('data', (bytes: Buffer) => {
      if (disturb(pair)) return;
      if (pair.isCommitting && committed !== undefined) {
        committed();
        committed = undefined;
        end(pair);
      } else near.write(bytes);
    });
    for (const socket of [near, far]) {
      socket.on('error', () => undefined);
      socket.on('close', () => end(pair));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  endLater(() => {
    for (const pair of [...pairs]) end(pair);
    return new Promise((resolve) => server.close(() => resolve()));
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: databaseUrl.replace(`@${target.host}`, `@127.0.0.1:${port}`),
    stall: (which) => (fault = { kind: 'stall', which }),
    cut: (which) => {
      fault = { kind: 'cut', which };
      for (const pair of [...pairs]) if (isHit(pair)) end(pair);
    },
    cutAfterCommit: (of = '') => {
      statement = of;
      return new Promise((resolve) => (committed = resolve));
    },
    cutBeforeCommit: () => new Promise((resolve) => (dropped = resolve)),
    restore: () => {
      for (const pair of [...pairs]) if (isHit(pair)) end(pair);
      fault = undefined;
    },
  };
}
