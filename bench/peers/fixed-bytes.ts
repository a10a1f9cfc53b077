// Answers POST /N with the bytes of the Nth file, from memory: the bare cost of writing an answer.
import { readFileSync } from 'node:fs';
import { listen } from './listen.ts';

const bodies = process.argv.slice(2).map((file) => readFileSync(file));

listen((request, response) => {
  const body = bodies[Number(request.url?.slice(1))];
  request.resume().on('end', () => {
    if (body === undefined) {
      response.writeHead(404).end();
      return;
    }
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    response.writeHead(200, headers).end(body);
  });
});
