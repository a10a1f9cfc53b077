// A lean MCP server over stdio: one JSON-RPC message per line, all answers to a chunk in one write.
import { echoServer } from './echo-answers.ts';

const NEWLINE = Buffer.from('\n');
const answer = echoServer(10);
let unfinished: Buffer[] = [];

process.stdin.on('data', (chunk: Buffer) => {
  const answers: Buffer[] = [];
  let from = 0;
  let end = chunk.indexOf(0x0a);
  while (end >= 0) {
    const said = answer(lineEndingWith(chunk.subarray(from, end)));
    if (said !== undefined) answers.push(said.bytes, NEWLINE);
    from = end + 1;
    end = chunk.indexOf(0x0a, from);
  }
  if (from < chunk.length) unfinished.push(chunk.subarray(from));
  if (answers.length > 0) process.stdout.write(Buffer.concat(answers));
});
process.stdin.on('end', () => process.exit(0));

function lineEndingWith(tail: Buffer): Buffer {
  if (unfinished.length === 0) return tail;
  const line = Buffer.concat([...unfinished, tail]);
  unfinished = [];
  return line;
}
