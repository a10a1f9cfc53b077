// A plain HTTP API that answers POST {"message": "…"} with the message. node rest-echo.ts
import { listen } from './listen.ts';

listen((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const { message } = JSON.parse(Buffer.concat(chunks).toString()) as { readonly message: string };
    const bytes = Buffer.from(message);
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': bytes.length }).end(bytes);
  });
});
