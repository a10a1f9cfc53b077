/** Reads server-sent events from the answer to a POST, which `EventSource` cannot send. */
export async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvent: (name: string, data: string) => void,
): Promise<void> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader();
  const pieces: string[] = [];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    // An event may arrive in many pieces, one of which may end within the empty line; they are joined once it is
    // complete.
    const isCut = value.startsWith('\n') && pieces.at(-1)?.endsWith('\n') === true;
    const parts = isCut ? ['', ...value.slice(1).split('\n\n')] : value.split('\n\n');
    pieces.push(parts.shift() ?? '');
    for (const part of parts) {
      tell(pieces.join(''), onEvent);
      pieces.length = 0;
      pieces.push(part);
    }
  }
}

/** Each event of Assay has one `event` and one `data` line; others are comments. */
function tell(text: string, onEvent: (name: string, data: string) => void): void {
  const lines = text.split('\n');
  const name = lines.find((line) => line.startsWith('event: '))?.slice(7);
  const data = lines.find((line) => line.startsWith('data: '))?.slice(6);
  if (name !== undefined && data !== undefined) onEvent(name, data);
}
