// An HTTP server whose answers are invalid HTTP, never end, or are cut, each in turn; it prints its port.
import { createServer, type Socket } from 'node:net';

const MAX_SENT_BYTES = 50_000_000;
const CHUNK = `data: ${'x'.repeat(100_000)}\n`;

const ANSWERS: readonly ((socket: Socket) => void)[] = [
  (socket) => socket.end('HTTP/1.1 099 Odd\r\nContent-Length: 0\r\n\r\n'),
  (socket) =>
    socket.end('HTTP/1.1 200 OK\r\nTrailer: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx: y\r\n\r\n'),
  (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!'),
  (socket) =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"id":'),
  (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd'),
  (socket) => socket.end('not HTTP at all\r\n\r\n'),
  (socket) => socket.destroy(),
  (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n');
    sendWithoutEnd(socket);
  },
];

let connections = 0;

const server = createServer((socket) => {
  const answer = ANSWERS[connections % ANSWERS.length];
  connections += 1;
  socket.on('error', () => undefined);
  socket.once('data', () => answer?.(socket));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address !== null) console.log(`listening ${String(address.port)}`);
});

/** One line of an event that does not end, as fast as it is read. */
function sendWithoutEnd(socket: Socket): void {
  if (socket.destroyed || socket.bytesWritten > MAX_SENT_BYTES) return;
  if (socket.write(CHUNK)) setImmediate(() => sendWithoutEnd(socket));
  else socket.once('drain', () => sendWithoutEnd(socket));
}
